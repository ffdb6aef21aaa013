//! Where `sql!` is in the executable. It has SQLite check its statements, so an application with PostgreSQL must not have any: that is said
//! when it starts, and not by the first request that comes upon one.

/// One `sql!` of the executable.
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
#[doc(hidden)]
#[derive(Debug)]
pub struct CheckedAt {
    file: &'static str,
    line: u32,
}

#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
impl CheckedAt {
    /// The place of a `sql!`.
    #[must_use]
    pub const fn new(file: &'static str, line: u32) -> Self {
        Self { file, line }
    }
}

#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
inventory::collect!(CheckedAt);

/// Why the application cannot have PostgreSQL.
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
pub(crate) fn refuse_checked() -> Result<(), String> {
    let first = inventory::iter::<CheckedAt>.into_iter().min_by_key(|place| (place.file, place.line));
    let Some(CheckedAt { file, line }) = first else { return Ok(()) };
    Err(format!(
        "the setting `database` is PostgreSQL, and `sql!` in {file}, line {line}, has SQLite check its statement: write `query(...)` in such an application"
    ))
}

/// Notes the place of a `sql!`, where that matters.
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __note_checked {
    () => {
        $crate::__inventory::submit! {
            $crate::sql::CheckedAt::new(::core::file!(), ::core::line!())
        }
    };
}

#[cfg(not(all(feature = "postgres", not(target_family = "wasm"))))]
#[doc(hidden)]
#[macro_export]
macro_rules! __note_checked {
    () => {};
}
