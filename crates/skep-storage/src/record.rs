//! What is known of a stored file.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skep::files::RemoteFile;
use skep::sql::{self, FromValue, ToValue, Unfit, Value};

use crate::key::Key;

/// A stored file, as the application keeps it: in a column of type `text` on both databases, or as JSON. Where it is,
/// the setting `storage.at` says, so rows stay the same when files move.
///
/// ```
/// use skep::sql::{Local, query};
/// use skep_storage::FileRecord;
///
/// async fn pictures(db: &Local) -> skep::Result<Vec<FileRecord>> {
///     Ok(db.all(query("select file from picture", ())).await?)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    pub(crate) key: Key,
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) content_type: String,
    pub(crate) size: u64,
    pub(crate) sha256: String,
    pub(crate) stored: u64,
}

impl FileRecord {
    /// What it is called where it is stored.
    #[must_use]
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The name that its user gave it, without a folder, control characters and marks of direction. Never empty.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its media type, by its content where that shows it: [`Upload::media_type`](skep::form::Upload::media_type).
    #[must_use]
    pub fn content_type(&self) -> &str {
        &self.content_type
    }

    /// Bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// SHA-256 of its bytes, as 64 hexadecimal digits: equal for equal files.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// When it was stored, in seconds since 1970.
    #[must_use]
    pub fn stored(&self) -> u64 {
        self.stored
    }

    /// True if browsers show it without running anything: pictures of pixels, sound, films, plain text.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        match self.content_type.split_once('/') {
            Some(("image", kind)) => matches!(kind, "avif" | "bmp" | "gif" | "jpeg" | "png" | "webp"),
            Some(("audio" | "video", _)) => true,
            _ => self.content_type.split(';').next().is_some_and(|kind| kind.trim_end() == "text/plain"),
        }
    }

    /// What of it is said to a client that may show it for so long without asking.
    pub(crate) fn remote(&self, max_age: Option<Duration>) -> RemoteFile {
        let file = RemoteFile::new(&self.name, &self.content_type, self.size).tag(&self.sha256).modified(self.stored);
        let file = if self.is_shown() { file.inline() } else { file };
        if let Some(time) = max_age { file.max_age(time) } else { file }
    }
}

impl ToValue for FileRecord {
    type Sql = sql::kind::Text;

    fn to_value(&self) -> Result<Value<'_>, Unfit> {
        let text = serde_json::to_string(self).map_err(|error| Unfit::because(error.to_string()))?;
        Ok(Value::Text(Cow::Owned(text)))
    }
}

impl FromValue for FileRecord {
    type Sql = sql::kind::Text;

    fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
        let text = String::from_value(value)?;
        serde_json::from_str(&text).map_err(|error| Unfit::because(format!("this is no record of a file: {error}")))
    }
}
