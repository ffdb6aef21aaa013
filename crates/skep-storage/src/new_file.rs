//! A file that is to be stored.

use skep::form::Upload;
use skep::{Body, Result};

use crate::name;

/// A file that is to be stored: an [`Upload`], or bytes that the application has made.
///
/// ```
/// use skep_storage::NewFile;
///
/// let report = NewFile::new("report.csv", "text/csv", "pen,2\r\n");
/// # let _ = report;
/// ```
#[derive(Debug)]
#[must_use]
pub struct NewFile {
    pub(crate) name: String,
    pub(crate) content_type: String,
    pub(crate) body: Result<Body>,
}

impl NewFile {
    /// A file of this name, media type and content, which may be a [stream](Body::from_stream).
    pub fn new(name: &str, content_type: &str, body: impl Into<Body>) -> Self {
        Self { name: name::safe(name), content_type: content_type.to_owned(), body: Ok(body.into()) }
    }
}

impl<K> From<&Upload<K>> for NewFile {
    fn from(upload: &Upload<K>) -> Self {
        let (name, content_type) = (name::safe(upload.file_name()), upload.media_type().to_owned());
        Self { name, content_type, body: upload.body() }
    }
}
