//! The migrations of a folder, and the hash that says whether others were meant.

use std::fs;
use std::path::{Path, PathBuf};

use crate::hash::hash;

/// The folder with those for PostgreSQL, in the one that `migrations!` names.
pub const FOLDER: &str = "postgres";

/// The files of a folder, in order.
#[derive(Clone, Debug)]
pub struct Migrations {
    /// Where each is, and its text.
    pub files: Vec<(PathBuf, String)>,
    /// Of all names and texts.
    pub hash: String,
}

impl Migrations {
    /// Reads them.
    ///
    /// # Errors
    /// A file cannot be read: a text for the developer.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let unreadable = |error| format!("the folder of migrations {} cannot be read: {error}", folder.display());
        let mut files = Vec::new();
        for file in fs::read_dir(folder).map_err(unreadable)? {
            let path = file.map_err(unreadable)?.path();
            let is_hidden = path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
            if !is_hidden && path.extension().is_some_and(|extension| extension == "sql") {
                let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                files.push((path, text));
            }
        }
        files.sort();
        let names = files.iter().map(|(path, _)| path.file_name().unwrap_or_default().to_string_lossy());
        let names: Vec<_> = names.collect();
        let hash = hash(names.iter().zip(&files).flat_map(|(name, (_, text))| [name.as_ref(), text.as_str()]));
        Ok(Self { files, hash })
    }
}
