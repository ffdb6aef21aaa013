//! The package that is compiled: where it is, and which database its `Cargo.toml` names.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use skep_sql_lock::Dialect;

/// Below the root.
pub(crate) const MANIFEST: &str = "/Cargo.toml";

/// For how long it is taken to be as it was: a compiler asks thousands of times in a second, and a language server
/// lives for hours.
pub(crate) const FRESH: Duration = Duration::from_millis(100);

pub(crate) fn root() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default()
}

/// Which database its statements are for.
///
/// # Errors
/// Its `Cargo.toml` says something that is not understood: a text for the developer.
pub(crate) fn dialect() -> Result<Dialect, String> {
    /// When it was looked at, and what it said.
    type Known = (Instant, Result<Dialect, String>);
    thread_local! {
        static KNOWN: RefCell<HashMap<PathBuf, Known>> = RefCell::default();
    }
    let root = root();
    KNOWN.with_borrow_mut(|known| match known.get(&root) {
        Some((seen, dialect)) if seen.elapsed() < FRESH => dialect.clone(),
        _ => {
            let text = fs::read_to_string(root.join("Cargo.toml")).unwrap_or_default();
            let dialect = skep_sql_lock::dialect(&text);
            known.insert(root, (Instant::now(), dialect.clone()));
            dialect
        }
    })
}
