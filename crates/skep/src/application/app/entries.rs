//! What the router is made of, beside services.

use std::sync::Arc;

use http::Method;

use super::Folder;
use crate::application::endpoint::Endpoint;
use crate::application::mount;
use crate::routing::route::Route;
use crate::routing::router::{Entry, QueryRequirement};
use crate::security::masks::Masks;

/// What is kept out of logs.
pub(super) fn masks(routes: &[&'static Route], entries: &[Entry<Endpoint>], mounts: &[mount::MountPoint]) -> Masks {
    let patterns: Vec<&str> = entries.iter().map(|entry| &*entry.pattern).collect();
    Masks::new(routes, &patterns, mounts.iter().map(|mount| mount.prefix.clone()).collect())
}

/// What is wrong with folders.
pub(super) fn of_folders(folders: &[Folder]) -> impl Iterator<Item = String> {
    folders.iter().filter_map(|folder| folder.files.check().err()).map(|error| error.to_string())
}

/// A folder answers for its prefix and for all below it, where no service does.
pub(super) fn with_folders(mut services: Vec<Entry<Endpoint>>, folders: &[Folder]) -> Vec<Entry<Endpoint>> {
    for Folder { prefix, files } in folders {
        let taken = services.iter().any(|entry| entry.method == Method::GET && entry.pattern == *prefix);
        let patterns = [Some(format!("{prefix}{{*path}}")), (!taken).then(|| prefix.clone())];
        services.extend(patterns.into_iter().flatten().map(|pattern| Entry {
            name: files.to_string(),
            method: Method::GET,
            pattern,
            requirement: QueryRequirement::default(),
            id: None,
            endpoint: Endpoint::of_files(Arc::clone(files)),
        }));
    }
    services
}
