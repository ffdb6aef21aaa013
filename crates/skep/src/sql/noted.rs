//! Where `sql!` is in the executable, and for which database it was checked. An application that opens another one must not have any: that is
//! said when it starts, and not by the first request that comes upon one.

#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
use super::checked::Dialect;

/// One `sql!` of the executable.
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
#[doc(hidden)]
#[derive(Debug)]
pub struct CheckedAt {
    file: &'static str,
    line: u32,
    dialect: Dialect,
}

#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
impl CheckedAt {
    /// The place of a `sql!`.
    #[must_use]
    pub const fn new(file: &'static str, line: u32, dialect: Dialect) -> Self {
        Self { file, line, dialect }
    }
}

#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
inventory::collect!(CheckedAt);

/// Why the application cannot have this database.
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
pub(crate) fn refuse_others(opened: Dialect) -> Result<(), String> {
    let others = inventory::iter::<CheckedAt>.into_iter().filter(|place| place.dialect != opened);
    let Some(CheckedAt { file, line, dialect }) = others.min_by_key(|place| (place.file, place.line)) else {
        return Ok(());
    };
    let setting = match opened {
        Dialect::Sqlite => "the setting `database` names no PostgreSQL",
        Dialect::Postgres => "the setting `database` is PostgreSQL",
    };
    let help = match opened {
        Dialect::Sqlite => {
            "set `database`, or take `database = \"postgres\"` out of `[package.metadata.skep]` in Cargo.toml"
        }
        Dialect::Postgres => {
            "write `[package.metadata.skep] database = \"postgres\"` into Cargo.toml and run `skep sql check`, or write `query(...)`"
        }
    };
    Err(format!("{setting}, and `sql!` in {file}, line {line}, was checked for {dialect}: {help}"))
}

/// Notes the place of a `sql!`, where that matters.
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __note_checked {
    ($dialect:ident) => {
        $crate::__inventory::submit! {
            $crate::sql::CheckedAt::new(::core::file!(), ::core::line!(), $crate::sql::Dialect::$dialect)
        }
    };
}

#[cfg(not(all(feature = "postgres", not(target_family = "wasm"))))]
#[doc(hidden)]
#[macro_export]
macro_rules! __note_checked {
    (Sqlite) => {};
    (Postgres) => {
        ::core::compile_error!(
            "Cargo.toml says `database = \"postgres\"` in `[package.metadata.skep]`: that needs the feature `postgres` of skep-server, or of \
             skep, and is not there for components"
        );
    };
}
