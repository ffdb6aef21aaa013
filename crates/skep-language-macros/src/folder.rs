//! The folder of an application's texts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The files of a language: the name that errors show, the path, and the text.
pub(crate) type Files = Vec<(String, PathBuf, String)>;

/// The files of each language: `de.ftl`, and all that are in `de/`.
///
/// # Errors
/// The folder is not there, or a file is not readable.
pub(crate) fn read(package: &Path, folder: &str) -> io::Result<BTreeMap<String, Files>> {
    let mut languages: BTreeMap<String, Files> = BTreeMap::new();
    for path in sorted(&package.join(folder))? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut files = Vec::new();
        collect(&package.join(folder), folder, &path, &mut files)?;
        if !files.is_empty() {
            languages.entry(name).or_default().extend(files);
        }
    }
    Ok(languages)
}

fn collect(root: &Path, folder: &str, path: &Path, files: &mut Files) -> io::Result<()> {
    if path.is_dir() {
        return sorted(path)?.iter().try_for_each(|path| collect(root, folder, path, files));
    }
    if path.extension().is_some_and(|extension| extension == "ftl") {
        let shown = format!("{folder}/{}", path.strip_prefix(root).unwrap_or(path).display());
        files.push((shown, path.to_owned(), fs::read_to_string(path)?));
    }
    Ok(())
}

/// Without hidden files, such as those of editors.
fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.retain(|path| path.file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b".")));
    paths.sort();
    Ok(paths)
}
