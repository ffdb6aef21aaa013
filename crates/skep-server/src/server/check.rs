//! `--check`: what only fails when the server starts or is used. Nothing is served, and nothing is left behind.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};
use skep::settings::{Value, Values};

use crate::config::Config;
use crate::supervisor;

/// Files and folders of the settings that could not be written.
pub(super) fn unwritable(config: &Config, values: &Values, is_data_made_by_root: bool) -> Vec<String> {
    let in_data = ["sessions.sqlite", "sessions.sqlite-wal", "sessions.sqlite-shm", "uploads"];
    let of_data = match config.app.data.exists() {
        true => in_data.map(|name| config.app.data.join(name)).to_vec(),
        false if is_data_made_by_root => Vec::new(),
        false => vec![config.app.data.clone()],
    };
    let of_data = of_data.into_iter().map(|path| ("data".to_owned(), path));
    let of_log = config.log.outputs.iter().filter_map(|output| output.file());
    let of_log = of_log.map(|path| ("log.outputs".to_owned(), path.to_owned()));
    let of_access = config.log.access_outputs.iter().filter(|_| config.log.access).filter_map(|output| output.file());
    let of_access = of_access.map(|path| ("log.access_outputs".to_owned(), path.to_owned()));
    let of_own = [("control", &config.control), ("pid_file", &config.pid_file)].into_iter();
    let of_own = of_own.filter_map(|(setting, path)| Some((setting, path.as_deref()?)));
    let without_folder = |(setting, path): (&str, &Path)| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir())?;
        Some(format!("{setting}: {}: {} is no folder that exists", path.display(), folder.display()))
    };
    let problems: Vec<String> = of_own.filter_map(without_folder).collect();
    let places = of_data.chain(of_log).chain(of_access).chain(of_caches(values));
    let refused =
        |(setting, path): (String, PathBuf)| Some(format!("{setting}: {}: {}", path.display(), refusal(&path)?));
    problems.into_iter().chain(places.filter_map(refused)).collect()
}

/// True if the start makes the data directory as root, and gives it to the user, who could not make it.
pub(super) fn is_data_made_by_root(config: &Config) -> bool {
    let path = std::path::absolute(&config.app.data).unwrap_or_default();
    let has_user = config.user.is_some() || config.group.is_some();
    has_user && !path.exists() && path.parent().is_some_and(supervisor::only_root_changes)
}

/// The paths of tiers of caches: `file:1GiB path=/var/cache/blog`, `sqlite:/var/cache/blog.db`.
fn of_caches(values: &Values) -> impl Iterator<Item = (String, PathBuf)> {
    values.iter().filter(|resolved| resolved.name.starts_with("cache.")).flat_map(|resolved| {
        let tiers = if let Value::List(tiers) = &resolved.value { tiers.as_slice() } else { &[] };
        let words = tiers.iter().flat_map(|tier| tier.split_whitespace());
        let paths = words.filter_map(|word| word.strip_prefix("path=").or_else(|| word.strip_prefix("sqlite:")));
        let paths = paths.filter(|path| *path != "none");
        paths.map(|path| (resolved.name.clone(), path.trim_matches('"').into())).collect::<Vec<_>>()
    })
}

/// Why a file or folder cannot be written, or cannot be made where it is missing.
fn refusal(path: &Path) -> Option<String> {
    let existing = std::path::absolute(path).ok()?;
    let existing = existing.ancestors().find(|path| path.symlink_metadata().is_ok())?.to_owned();
    let is_missing = existing != std::path::absolute(path).ok()?;
    if is_missing && !existing.is_dir() {
        return Some(format!("{} is not a folder", existing.display()));
    }
    let access = if existing.is_dir() { Access::WRITE_OK | Access::EXEC_OK } else { Access::WRITE_OK };
    let error = std::io::Error::from(accessat(CWD, &existing, access, AtFlags::EACCESS).err()?);
    Some(if is_missing {
        format!("it cannot be made in {}: {error}", existing.display())
    } else {
        format!("it cannot be written: {error}")
    })
}
