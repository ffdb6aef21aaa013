//! Files in a handler.

use std::future::Future;
use std::time::Duration;

use skep::{Cx, Response, Result};

use crate::link::FileLink;
use crate::new_file::NewFile;
use crate::record::FileRecord;
use crate::storage::{Opened, Storage};

/// Files in a handler. An example is at the [crate](crate).
pub trait StorageCx {
    /// The storage itself: for what is rarer.
    fn storage(&self) -> &Storage;

    /// Stores a file, an [`Upload`](skep::form::Upload) or a [`NewFile`], and registers it in the request's
    /// [transaction](Cx::transaction), which this begins once the file is stored: it stays if that is committed.
    /// Where the transaction has begun, other writers of SQLite wait until the file is stored: several files go into
    /// [`store_files`](Self::store_files).
    ///
    /// # Errors
    /// 503 if the files cannot be reached or there is no room for more.
    fn store_file(&self, file: impl Into<NewFile>) -> impl Future<Output = Result<FileRecord>>;

    /// Stores files one after the other, and registers them when all are stored. An error leaves none.
    ///
    /// ```
    /// use skep::form::Upload;
    /// use skep::prelude::*;
    /// use skep_storage::prelude::*;
    ///
    /// async fn store(cx: &Cx<'_>, pictures: &[Upload]) -> Result<Vec<FileRecord>> {
    ///     cx.store_files(pictures).await
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`store_file`](Self::store_file).
    fn store_files<F: Into<NewFile>>(
        &self,
        files: impl IntoIterator<Item = F>,
    ) -> impl Future<Output = Result<Vec<FileRecord>>>;

    /// Stores a photograph as [`store_file`](Self::store_file) does, as JPEG of at most these pixels, upright, and
    /// without what the camera wrote into it, such as the place. What is transparent becomes white. Its name is that of
    /// the upload, with the ending `.jpg`. The inner error is what is wrong with the photograph, such as one of more
    /// than 50 million pixels: [`PhotoError`](crate::PhotoError). With the feature `image`.
    ///
    /// ```
    /// use skep::form::Upload;
    /// use skep::prelude::*;
    /// use skep_storage::prelude::*;
    ///
    /// #[handler(POST "/avatar")]
    /// async fn SetAvatar(cx: &mut Cx<'_>, #[form] picture: Upload<Photo>) -> Result {
    ///     let file = cx.store_photo(&picture, 320, 320).await?;
    ///     let file = file.map_err(|error| SetAvatar::picture.refuse(error.to_string()))?;
    ///     Ok(Response::text(format!("{} bytes", file.size())))
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`store_file`](Self::store_file).
    #[cfg(feature = "image")]
    fn store_photo<K: skep::form::FileKind>(
        &self,
        photo: &skep::form::Upload<K>,
        width: u32,
        height: u32,
    ) -> impl Future<Output = Result<std::result::Result<FileRecord, crate::PhotoError>>>;

    /// Sends a file, once the handler or a [guard](skep::guard) has checked who asks: [`Storage::send`]. Pictures,
    /// sound, films and plain text are shown in the browser, all else is a download; whatever it is, it runs no code on
    /// this site.
    ///
    /// # Errors
    /// 404 if the file is gone, 503 if the files cannot be reached, 412 and 416 as the request says.
    fn send_stored(&self, file: &FileRecord) -> impl Future<Output = Result<Response>>;

    /// A link to a file that everybody may follow who has it, for so long; `href` and `src` take it, and
    /// [`Cx::absolute`]. It ends then, or when the file is deleted; a browser that has the file keeps it for the rest
    /// of that time. Each call makes another link, which no browser has seen: for pictures that a page shows again and
    /// again, a service of your own with [`send_stored`](Self::send_stored) has one URL, and costs a 304.
    ///
    /// ```
    /// use std::time::Duration;
    /// use skep::prelude::*;
    /// use skep_storage::prelude::*;
    ///
    /// fn picture(cx: &Cx<'_>, file: &FileRecord) -> Result<Html> {
    ///     Ok(html! { img src=(cx.stored_link(file, Duration::from_hours(1))?) alt=(file.name()); })
    /// }
    /// ```
    ///
    /// # Errors
    /// If the keys of the application cannot be read.
    fn stored_link(&self, file: &FileRecord, lasts: Duration) -> Result<FileLink>;

    /// Deletes a file, if the request's transaction is committed: [`Storage::delete`].
    fn delete_stored(&self, file: &FileRecord) -> impl Future<Output = Result<()>>;
}

impl StorageCx for Cx<'_> {
    fn storage(&self) -> &Storage {
        self.state::<Opened>().get()
    }

    async fn store_file(&self, file: impl Into<NewFile>) -> Result<FileRecord> {
        let file = self.storage().put(file).await?;
        file.register(self.transaction().await?).await
    }

    async fn store_files<F: Into<NewFile>>(&self, files: impl IntoIterator<Item = F>) -> Result<Vec<FileRecord>> {
        let mut stored = Vec::new();
        for file in files {
            stored.push(self.storage().put(file).await?);
        }
        let (transaction, mut records) = (self.transaction().await?, Vec::new());
        for file in stored {
            records.push(file.register(transaction).await?);
        }
        Ok(records)
    }

    #[cfg(feature = "image")]
    async fn store_photo<K: skep::form::FileKind>(
        &self,
        photo: &skep::form::Upload<K>,
        width: u32,
        height: u32,
    ) -> Result<std::result::Result<FileRecord, crate::PhotoError>> {
        let bytes = photo.read().await?;
        let jpeg = match self.offload(move || crate::photo::resized(&bytes, width, height)).await? {
            Ok(jpeg) => jpeg,
            Err(error) => return Ok(Err(error)),
        };
        let name = crate::name::with_ending(photo.file_name(), "jpg");
        self.store_file(NewFile::new(&name, "image/jpeg", jpeg)).await.map(Ok)
    }

    async fn send_stored(&self, file: &FileRecord) -> Result<Response> {
        self.storage().send(file, self.method(), self.request_headers()).await
    }

    fn stored_link(&self, file: &FileRecord, lasts: Duration) -> Result<FileLink> {
        FileLink::new(self, file, lasts)
    }

    async fn delete_stored(&self, file: &FileRecord) -> Result<()> {
        self.storage().delete(file, self.transaction().await?).await
    }
}
