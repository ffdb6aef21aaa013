//! Files that users send.
//!
//! What is small stays in memory; the rest is written to a file in the data folder as it arrives, within limits, and is
//! removed when the last [`Upload`] of it is dropped. Only [`Upload::keep`] makes it stay.

use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::field::{Control, Shape};
use super::look;
use crate::offload::{Offload, offload};
use crate::routing::param::Param;
use skep_http::body::{Body, FileSlice};
use skep_http::error::Result;
use skep_http::quota::Share;
use skep_http::validation::FieldError;

/// Which files an [`Upload`] takes.
///
/// ```
/// use skep::form::{Control, FileKind, Upload};
///
/// struct Photo;
/// impl FileKind for Photo {
///     const ACCEPT: Option<&'static str> = Some("image/jpeg,image/png");
///     const MAX: u64 = 5_000_000;
/// }
/// assert_eq!(Upload::<Photo>::shape().accept, Some("image/jpeg,image/png"));
/// ```
pub trait FileKind: 'static {
    /// The kinds of files, as in HTML's `accept`: media types such as `image/png` and `image/*`, and endings such as
    /// `.pdf`.
    ///
    /// A media type is what the browser says, and what the first bytes show: what is called an image and holds HTML is
    /// refused. An ending is only a name. SVG is code, and no `image/*`: it is accepted as `image/svg+xml`.
    const ACCEPT: Option<&'static str> = None;

    /// The most bytes of one file; the configuration may allow fewer.
    const MAX: u64 = u64::MAX;
}

/// Any file, as large as the configuration allows.
#[derive(Clone, Copy, Debug)]
pub struct AnyFile;

impl FileKind for AnyFile {}

/// A file that a user sent: `#[form] picture: Upload<Photo>`, or `Option<Upload>` if there need not be one.
///
/// A service without such a field refuses files. The limits are `limits.upload_file`, `limits.upload_total` and
/// `limits.upload_quota` of the configuration, and [`FileKind::MAX`].
///
/// ```
/// use skep::form::Upload;
/// use skep::prelude::*;
///
/// #[derive(Service)]
/// #[service(POST "/files")]
/// struct Send { #[form] file: Upload }
///
/// impl Handle for Send {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result {
///         Ok(Response::text(format!("{} bytes", self.file.len())))
///     }
/// }
///
/// let client = skep::test::Client::new(App::new().serve(services![Send]));
/// let answer = client.request(skep::Method::POST, "/files").files(&[], &[("file", "a.txt", "text/plain", b"Hello")]).send();
/// assert_eq!(answer.text(), "5 bytes");
/// ```
pub struct Upload<K = AnyFile> {
    received: Received,
    kind: PhantomData<fn() -> K>,
}

/// A file as it came, before its field has looked at it.
#[derive(Clone)]
pub struct Received {
    pub(super) file_name: String,
    pub(super) content_type: String,
    /// By its first bytes, once they were looked at; empty for text, and for what is unknown.
    pub(super) found: Option<&'static str>,
    pub(super) len: u64,
    /// It was larger than this, and what was too much was not kept.
    pub(super) beyond: Option<u64>,
    pub(super) content: Content,
    pub(super) offload: Arc<dyn Offload>,
}

#[derive(Clone)]
pub(super) enum Content {
    Memory(Bytes),
    Disk(Arc<Temporary>),
}

/// A file in the data folder that goes away with its last user, and its part of the quota.
pub(super) struct Temporary {
    pub(super) path: PathBuf,
    pub(super) used: Share,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Removing a name is short, but may wait for the disk; a request with a file of this size has waited for it
        // before.
        if let Err(error) = fs::remove_file(&self.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(target: "skep::upload", path = %self.path.display(), "an upload could not be removed: {error}");
        }
    }
}

impl Received {
    /// What a browser sends where no file was picked.
    pub(super) fn is_none(&self) -> bool {
        self.file_name.is_empty() && self.len == 0 && self.beyond.is_none()
    }

    /// Finds out what it is. The first call has its beginning.
    pub(super) fn look_at(&mut self, beginning: &[u8]) {
        self.found.get_or_insert_with(|| infer::get(beginning).map_or("", |kind| kind.mime_type()));
    }
}

impl<K> Upload<K> {
    /// What the user's file was called, without a folder before it. It is text of the user's: make a name of your own
    /// for the file you keep.
    #[must_use]
    pub fn file_name(&self) -> &str {
        let name = &self.received.file_name;
        name.rsplit(['/', '\\']).next().unwrap_or(name)
    }

    /// What the browser takes it for: `image/png`. Empty if it does not say.
    #[must_use]
    pub fn content_type(&self) -> &str {
        &self.received.content_type
    }

    /// What its first bytes show: `image/png`, `application/pdf`. `None` for plain text, and for what is unknown.
    #[must_use]
    pub fn detected_type(&self) -> Option<&'static str> {
        self.received.found.filter(|found| !found.is_empty())
    }

    /// What it is, for who stores it: what its first bytes show; of kinds without a mark of their own, such as CSV,
    /// what the browser says; otherwise `application/octet-stream`.
    ///
    /// ```
    /// # use skep::form::Upload;
    /// fn is_picture(upload: &Upload) -> bool { upload.media_type().starts_with("image/") }
    /// ```
    #[must_use]
    pub fn media_type(&self) -> &str {
        let said = self.content_type().split(';').next().unwrap_or_default().trim();
        let is_media_type = said.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype));
        // A mark that was not found is not there.
        let is_possible = is_media_type && !infer::is_mime_supported(said);
        self.detected_type().unwrap_or(if is_possible { said } else { "application/octet-stream" })
    }

    /// The number of bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.received.len
    }

    /// True if there is no byte in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of it. It is read elsewhere, so nothing else waits for it; how large it may be, [`FileKind::MAX`] says.
    pub async fn read(&self) -> Result<Bytes> {
        match &self.received.content {
            Content::Memory(bytes) => Ok(bytes.clone()),
            Content::Disk(file) => {
                let file = Arc::clone(file);
                Ok(offload(&*self.received.offload, move || fs::read(&file.path)).await??.into())
            }
        }
    }

    /// All of it as a body, of which no more than a piece is in memory that was not before. It is there for as long as
    /// the body is.
    ///
    /// # Errors
    /// If its file in the data directory is gone.
    ///
    /// ```
    /// # use skep::{Body, Result, form::Upload};
    /// fn body(upload: &Upload) -> Result<Body> { upload.body() }
    /// ```
    pub fn body(&self) -> Result<Body> {
        match &self.received.content {
            Content::Memory(bytes) => Ok(bytes.clone().into()),
            Content::Disk(file) => {
                let (file, start) = (Arc::new(fs::File::open(&file.path)?), 0);
                Ok(Body::file(FileSlice { file, start, len: self.len() }))
            }
        }
    }

    /// Makes the file stay, at this path. What was there before is replaced.
    ///
    /// ```
    /// use skep::form::Upload;
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(POST "/pictures")]
    /// struct Send { #[form] picture: Upload }
    ///
    /// impl Handle for Send {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         self.picture.keep(cx.data().join("pictures").join(cx.id().to_string())).await?;
    ///         Ok(Response::text("kept"))
    ///     }
    /// }
    /// ```
    pub async fn keep(self, path: impl Into<PathBuf>) -> Result<()> {
        let (path, Received { content, offload: pool, .. }) = (path.into(), self.received);
        offload(&*pool, move || keep(&content, &path)).await??;
        Ok(())
    }
}

/// In one step, where the file system can: nobody sees half a file.
fn keep(content: &Content, path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    match content {
        Content::Memory(bytes) => fs::write(path, bytes),
        Content::Disk(file) => match fs::rename(&file.path, path) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => fs::copy(&file.path, path).map(drop),
            other => other,
        },
    }
}

impl<K: FileKind> Control for Upload<K> {
    type Look = look::Pick;
    const FILE: bool = true;

    fn shape() -> Shape {
        let max_bytes = (K::MAX < u64::MAX).then_some(K::MAX);
        Shape { kind: "file", accept: K::ACCEPT, max_bytes, ..Shape::default() }
    }

    fn of_file(file: &Received) -> Result<Self, FieldError> {
        let limit = file.beyond.or((file.len > K::MAX).then_some(K::MAX));
        if let Some(limit) = limit {
            return Err(FieldError::FileTooLarge { limit });
        }
        match K::ACCEPT.filter(|accept| !accepts(accept, file)) {
            Some(accept) => Err(FieldError::FileKind { accept }),
            None => Ok(Self { received: file.clone(), kind: PhantomData }),
        }
    }
}

/// HTML, 4.10.5.1.17: media types, `image/*` and its like, endings of names.
fn accepts(accept: &str, file: &Received) -> bool {
    let said = file.content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let name = file.file_name.to_ascii_lowercase();
    let found = file.found.filter(|found| !found.is_empty());
    accept.split(',').map(|one| one.trim().to_ascii_lowercase()).any(|one| match one.strip_suffix("/*") {
        Some(group) => is_in(group, &said) && found.map_or(group == "text", |found| is_in(group, found)),
        None if one.starts_with('.') => name.ends_with(&one),
        // Of text, and of kinds without a mark of their own, only that it is nothing else can be told.
        None if infer::is_mime_supported(&one) && !is_in("text", &one) => one == said && found == Some(&one),
        None => one == said && found.is_none_or(|found| is_in("text", found)),
    })
}

/// RFC 9110, 5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

fn is_in(group: &str, kind: &str) -> bool {
    kind.split_once('/').is_some_and(|(of_kind, _)| of_kind == group)
}

/// A file is no text: it stands in no link.
impl<K> Param for Upload<K> {
    fn expected() -> Cow<'static, str> {
        "a file".into()
    }
    fn parse(_text: &str) -> Option<Self> {
        None
    }
    fn write(&self, _out: &mut String) {}
}

impl<K> fmt::Debug for Upload<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.received, f)
    }
}

impl fmt::Debug for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Upload({:?}, {} bytes)", self.file_name, self.len)
    }
}
