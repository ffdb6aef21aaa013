//! The place of an application's files, whatever it is.

use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use skep::cache::Clock;
use skep::offload::Offload;
use skep::{Body, Error, HeaderMap, Method, Response, Result, Site, StatusCode, sql};

use crate::bytes::Written;
use crate::error::{Outcome, Problem};
use crate::folder::Folder;
use crate::key::Key;
use crate::new_file::NewFile;
use crate::record::FileRecord;
#[cfg(all(feature = "s3", not(target_family = "wasm")))]
use crate::s3::S3;
use crate::schema;
use crate::settings::{Location, StorageSettings};

/// The files of an application, outside of requests: in jobs, and at the start. In a handler,
/// [`StorageCx`](crate::StorageCx) does the same in one line.
///
/// ```
/// use skep::{Result, Site, Work};
/// use skep_storage::{FileRecord, NewFile, Storage};
///
/// async fn write_report(site: &Site, work: &Work, text: String) -> Result<FileRecord> {
///     let file = Storage::of(site).put(NewFile::new("report.csv", "text/csv", text)).await?;
///     file.register(work.transaction().await?).await
/// }
/// ```
pub struct Storage {
    pub(crate) place: Files,
    offload: Arc<dyn Offload>,
    clock: Clock,
}

skep_units::opaque_debug!(Storage);

/// Why an application of several machines does not start with a folder.
pub(crate) const OF_ONE_MACHINE: &str =
    "storage.at: with cluster.data, a folder is of one machine; expected s3://BUCKET/PREFIX?endpoint=URL";

/// Where files are.
pub(crate) enum Files {
    Folder(Folder),
    #[cfg(all(feature = "s3", not(target_family = "wasm")))]
    S3(S3),
}

/// The storage, which the application has when it is open.
#[derive(Debug, Default)]
pub(crate) struct Opened(OnceLock<Storage>);

impl Opened {
    pub(crate) fn get(&self) -> &Storage {
        self.0.get().expect("StorageApp::storage opens it before the first request")
    }

    pub(crate) fn open(&self, site: &Site) -> Result<()> {
        let (settings, setup) = (site.settings::<StorageSettings>(), site.setup());
        let place = match settings.location() {
            Location::Folder(_) if setup.cluster => return Err(Error::internal(OF_ONE_MACHINE)),
            Location::Folder(path) => Files::Folder(Folder::open(site.data().join(path)).map_err(|error| {
                Error::internal(format!("storage.at: the folder {} cannot be made: {error}", path.display()))
            })?),
            #[cfg(all(feature = "s3", not(target_family = "wasm")))]
            Location::S3(bucket) => Files::S3(S3::open(bucket, settings.keys(), settings.timeout())?),
        };
        _ = self.0.set(Storage { place, offload: Arc::clone(&setup.offload), clock: setup.clock.clone() });
        Ok(())
    }
}

/// A file that is stored, and that no transaction has yet: it goes away with a sweep, unless one registers it.
#[derive(Debug)]
#[must_use = "the file goes away unless a transaction registers it"]
pub struct Uncommitted(FileRecord);

impl Uncommitted {
    /// Has this transaction decide: the file stays if and only if it is committed.
    pub async fn register(self, db: &sql::Transaction) -> Result<FileRecord> {
        db.execute(schema::register(&self.0.key)).await?;
        Ok(self.0)
    }
}

impl Storage {
    /// The files of this application.
    ///
    /// # Panics
    /// If it has none: [`StorageApp::storage`](crate::StorageApp::storage).
    #[must_use]
    pub fn of(site: &Site) -> &Self {
        site.state::<Opened>().get()
    }

    /// Stores a file, while no more than a piece of it is in memory (64 KiB in a folder, 5 MiB for S3, which takes
    /// 10,000 pieces: 48 GiB). Do it before
    /// the transaction begins: other writers of SQLite would wait as long as it takes.
    ///
    /// # Errors
    /// 503 if the files cannot be reached or there is no room for more.
    pub async fn put(&self, file: impl Into<NewFile>) -> Result<Uncommitted> {
        let NewFile { name, content_type, body } = file.into();
        let (key, body) = (Key::random()?, body?);
        let Written { size, sha256 } = self.write(&key, &content_type, body).await.map_err(Problem::in_writing)?;
        let stored = self.clock.now().millis() / 1000;
        Ok(Uncommitted(FileRecord { key, name, content_type, size, sha256, stored }))
    }

    /// A folder has nowhere to keep the media type.
    #[cfg_attr(any(not(feature = "s3"), target_family = "wasm"), expect(unused_variables, reason = "it is for S3"))]
    async fn write(&self, key: &Key, content_type: &str, body: Body) -> Outcome<Written> {
        match &self.place {
            Files::Folder(folder) => folder.write(key, body, &*self.offload).await,
            #[cfg(all(feature = "s3", not(target_family = "wasm")))]
            Files::S3(bucket) => bucket.write(key, content_type, body, &*self.offload).await,
        }
    }

    /// Stores the same bytes once more, as a file of its own: for two rows, each of which is deleted with its file.
    ///
    /// # Errors
    /// 404 if the file is gone, 503 if the files cannot be reached.
    pub async fn copy(&self, file: &FileRecord) -> Result<Uncommitted> {
        let body = Ok(self.read(file).await?);
        self.put(NewFile { name: file.name.clone(), content_type: file.content_type.clone(), body }).await
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// As [`copy`](Self::copy).
    pub async fn read(&self, file: &FileRecord) -> Result<Body> {
        self.part(file, 0..file.size).await.inspect_err(|error| warn_of_missing(file, error))
    }

    async fn part(&self, file: &FileRecord, part: Range<u64>) -> Result<Body> {
        Ok(match &self.place {
            // A length of nothing is no range that a server can be asked for.
            _ if part.is_empty() => Body::empty(),
            Files::Folder(folder) => folder.read(&file.key, file.size, part, &*self.offload).await?,
            #[cfg(all(feature = "s3", not(target_family = "wasm")))]
            Files::S3(bucket) => bucket.read(&file.key, part).await?,
        })
    }

    /// Answers a request with a file: with ranges, `ETag` (from the hash), `Last-Modified` and conditions. A 304 and a
    /// response to HEAD do not touch the file.
    ///
    /// # Errors
    /// As [`copy`](Self::copy); 412 and 416 as the request says.
    pub async fn send(&self, file: &FileRecord, method: &Method, headers: &HeaderMap) -> Result<Response> {
        self.answer(file, (method, headers), None).await.inspect_err(|error| warn_of_missing(file, error))
    }

    async fn answer(
        &self,
        file: &FileRecord,
        (method, headers): (&Method, &HeaderMap),
        max_age: Option<Duration>,
    ) -> Result<Response> {
        let (mut response, part) = file.remote(max_age).answer(method, headers)?;
        if !part.is_empty() {
            *response.body_mut() = self.part(file, part).await?;
        }
        Ok(response)
    }

    /// Answers who has a link, for whom a file that is gone is gone, also where none of its bytes are sent.
    pub(crate) async fn answer_link(
        &self,
        file: &FileRecord,
        (method, headers): (&Method, &HeaderMap),
        max_age: Duration,
    ) -> Result<Response> {
        let response = self.answer(file, (method, headers), Some(max_age)).await?;
        if response.body().is_empty() && !self.has(file).await? {
            return Err(Error::not_found());
        }
        Ok(response)
    }

    /// True if the file is there.
    ///
    /// # Errors
    /// 503 if the files cannot be reached.
    pub async fn has(&self, file: &FileRecord) -> Result<bool> {
        match &self.place {
            Files::Folder(folder) => Ok(folder.has(&file.key, &*self.offload).await?),
            #[cfg(all(feature = "s3", not(target_family = "wasm")))]
            Files::S3(bucket) => Ok(bucket.has(&file.key).await?),
        }
    }

    /// Deletes a file, if this transaction is committed. Its links end with the commit; its bytes go within a minute or
    /// two.
    pub async fn delete(&self, file: &FileRecord, db: &sql::Transaction) -> Result<()> {
        db.execute(schema::remove(&file.key)).await?;
        Ok(())
    }
}

/// Who has its record expects a file; who has a link only may come after the file is deleted.
fn warn_of_missing(file: &FileRecord, error: &Error) {
    if error.status() == StatusCode::NOT_FOUND {
        let cause = error.cause().map(tracing::field::display);
        tracing::warn!(target: "skep::storage", key = ?file.key, cause, "a file is missing, of which there is a record");
    }
}
