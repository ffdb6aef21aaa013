//! Where files are: the settings `storage.*`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use skep::Secret;
use skep::settings::Settings;

#[cfg(all(feature = "s3", not(target_family = "wasm")))]
use crate::s3::Bucket;

/// `[storage]` in skep.toml, `SKEP_STORAGE_AT`, `--set storage.at=...`
#[derive(Settings)]
#[settings(table = "storage")]
pub(crate) struct StorageSettings {
    /// Where files are: folder:PATH, from the data directory, or `s3://BUCKET/PREFIX?endpoint=URL&region=NAME`.
    #[setting(from_str, default = "folder:files")]
    at: Location,
    /// The access key of the S3 server.
    access_key: Option<String>,
    /// The secret key of the S3 server.
    #[setting(secret)]
    secret_key: Option<Secret<String>>,
    /// Time for the S3 server to take a request (5 MiB) and begin its response, and between bytes of a response.
    #[setting(default = "30s")]
    timeout: Duration,
}

skep_units::opaque_debug!(StorageSettings);

#[cfg_attr(any(not(feature = "s3"), target_family = "wasm"), allow(dead_code, reason = "they are for S3"))]
impl StorageSettings {
    pub(crate) fn location(&self) -> &Location {
        &self.at
    }

    /// Of an S3 server.
    pub(crate) fn keys(&self) -> Option<(&str, &str)> {
        self.access_key.as_deref().zip(self.secret_key.as_ref().map(|key| &**key.reveal()))
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }
}

/// Where files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// In a folder. A relative path begins at the data directory.
    Folder(PathBuf),
    /// On a server that speaks S3.
    #[cfg(all(feature = "s3", not(target_family = "wasm")))]
    S3(Bucket),
}

impl FromStr for Location {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("folder", path)) if !path.is_empty() => Ok(Self::Folder(path.into())),
            Some(("s3", _)) => s3(text),
            _ => Err("expected folder:PATH, or s3://BUCKET/PREFIX?endpoint=URL&region=NAME".to_owned()),
        }
    }
}

#[cfg(all(feature = "s3", not(target_family = "wasm")))]
fn s3(text: &str) -> Result<Location, String> {
    Bucket::parse(text).map(Location::S3)
}

#[cfg(all(not(feature = "s3"), not(target_family = "wasm")))]
fn s3(_text: &str) -> Result<Location, String> {
    Err("files on an S3 server need the cargo feature `s3` of skep-storage".to_owned())
}

#[cfg(target_family = "wasm")]
fn s3(_text: &str) -> Result<Location, String> {
    Err("a component keeps files in a folder: write folder:PATH".to_owned())
}
