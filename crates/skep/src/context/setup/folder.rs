//! The data directory of an application that was given none: a temporary one, of its own.

use std::io;
use std::path::PathBuf;

use super::{Setup, StartError};

/// A directory that is removed with all that is in it.
#[derive(Debug)]
pub(crate) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Gives a setup without a data directory one.
    pub(crate) fn for_data(setup: &mut Setup) -> Result<Option<Self>, StartError> {
        if !setup.data.as_os_str().is_empty() {
            return Ok(None);
        }
        setup.temporary_database |= setup.database.is_none();
        let folder = Self::create();
        let folder = folder.map_err(|error| StartError::new(format!("no temporary data directory: {error}")))?;
        setup.data.clone_from(&folder.0);
        Ok(Some(folder))
    }

    /// A new one.
    pub(crate) fn create() -> io::Result<Self> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let path = std::env::temp_dir().join(format!("skep-{:016x}", u64::from_ne_bytes(bytes)));
        let builder = &mut std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(builder, 0o700);
        builder.create(&path)?;
        Ok(Self(path))
    }

    /// Where it is.
    #[cfg(feature = "browser")]
    pub(crate) fn path(&self) -> &std::path::Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // Who removed it before has done it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
