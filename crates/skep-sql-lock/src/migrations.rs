//! The migrations of a folder, the hash that says whether others were meant, and what they say of scopes.

use std::fs;
use std::path::{Path, PathBuf};

use crate::hash::hash;
use crate::scope::Directive;
use crate::text::pieces;

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

/// What a migration says of scopes, in its order.
///
/// ```
/// use skep_sql_lock::{directives, scope::Directive};
///
/// let text = "-- skep: token is scoped by user_id\nselect '-- skep: none'";
/// assert_eq!(directives(text), Ok(vec![Directive::Scoped { table: "token", column: "user_id" }]));
/// ```
///
/// # Errors
/// A comment that is no such thing: a text for the developer.
pub fn directives(migration: &str) -> Result<Vec<Directive<'_>>, String> {
    let mut rest = migration;
    let comments = std::iter::from_fn(|| {
        loop {
            let length = pieces(rest).next()?.length();
            let (piece, after) = rest.split_at(length);
            rest = after;
            if let Some(comment) = comment(piece) {
                return Some(comment);
            }
        }
    });
    comments.filter_map(Directive::of).collect()
}

fn comment(piece: &str) -> Option<&str> {
    let block = || piece.strip_prefix("/*").map(|inner| inner.strip_suffix("*/").unwrap_or(inner));
    piece.strip_prefix("--").or_else(block)
}
