//! Files that were written, with what was there before.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Files that were written. Dropped without [`Written::keep`], all of it is taken back.
#[derive(Default)]
pub(super) struct Written {
    files: Vec<File>,
    folders: Vec<PathBuf>,
}

struct File {
    path: PathBuf,
    old: Option<Vec<u8>>,
    /// None for what cargo writes.
    new: Option<Vec<u8>>,
}

impl Written {
    /// It all stays.
    pub(super) fn keep(mut self) {
        self.files.clear();
        self.folders.clear();
    }

    /// Takes all of it back, and says so.
    pub(super) fn undo(mut self) -> String {
        match self.restore().as_slice() {
            [] => "nothing was written: all files are as they were".to_owned(),
            left => format!("all files are as they were, but for these:\n{}", left.join("\n")),
        }
    }

    /// A file that something else may write.
    pub(super) fn remember(&mut self, path: &Path) {
        self.files.push(File { path: path.to_owned(), old: fs::read(path).ok(), new: None });
    }

    /// Writes a file, if it still is as it was read.
    pub(super) fn write(&mut self, path: &Path, old: Option<&str>, new: &str) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let missing: Vec<_> = folder.ancestors().take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
        fs::create_dir_all(folder)?;
        self.folders.extend(missing.into_iter().rev());
        let found = match fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            found => Some(found?),
        };
        if found.as_deref() != old.map(str::as_bytes) {
            return Err(io::Error::other("it has changed meanwhile: run the command again"));
        }
        self.files.push(File { path: path.to_owned(), old: found, new: Some(new.as_bytes().to_vec()) });
        fs::write(path, new)
    }

    /// A sentence for each file that is not as it was.
    fn restore(&mut self) -> Vec<String> {
        let left = self.files.drain(..).rev().filter_map(File::restore).collect();
        for folder in self.folders.drain(..).rev() {
            let _ = fs::remove_dir(folder);
        }
        left
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        self.restore().iter().for_each(|left| eprintln!("skep gen: {left}"));
    }
}

impl File {
    /// What somebody else has saved meanwhile is left alone, and named.
    fn restore(self) -> Option<String> {
        let Self { path, old, new } = self;
        let found = fs::read(&path).ok();
        if found == old {
            return None;
        }
        if new.is_some() && found != new {
            return Some(format!("{} was changed meanwhile, and still has what was generated", path.display()));
        }
        let restored = match old {
            Some(old) => fs::write(&path, old),
            None => fs::remove_file(&path),
        };
        restored.err().map(|error| format!("{} could not be restored: {error}", path.display()))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/generate/written.rs"]
mod tests;
