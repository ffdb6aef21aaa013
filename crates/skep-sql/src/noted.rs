//! Each `sql!` of the executable: where it is, for which database it was checked, and which tables it reads and writes.
//!
//! An application that opens another database must not have any: that is said when it starts, and not by the first
//! request that comes upon one.
//!
//! Start reading at [`statements`].

use super::checked::Dialect;

/// One `sql!` of the executable, with all the statements that its parts make.
///
/// See [`statements`].
#[derive(Debug)]
pub struct Statement {
    file: &'static str,
    line: u32,
    dialect: Dialect,
    reads: &'static [&'static str],
    writes: &'static [&'static str],
}

impl Statement {
    /// For what [`sql!`](crate::sql!) writes.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        (file, line): (&'static str, u32),
        dialect: Dialect,
        reads: &'static [&'static str],
        writes: &'static [&'static str],
    ) -> Self {
        Self { file, line, dialect, reads, writes }
    }

    /// The file of its source, as the compiler was given it.
    #[must_use]
    pub const fn file(&self) -> &'static str {
        self.file
    }

    /// The line in it.
    #[must_use]
    pub const fn line(&self) -> u32 {
        self.line
    }

    /// The database for which it was checked.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Tables whose change can alter its rows, also through views, in the order of their names; on PostgreSQL, `*`
    /// stands for any.
    #[must_use]
    pub const fn reads(&self) -> &'static [&'static str] {
        self.reads
    }

    /// Tables that it may change, also through triggers and cascading foreign keys; on PostgreSQL, `*` stands for any.
    #[must_use]
    pub const fn writes(&self) -> &'static [&'static str] {
        self.writes
    }
}

#[cfg(not(target_family = "wasm"))]
inventory::collect!(Statement);

/// Every `sql!` of the executable, in the order of files and lines. It is what `--routes --sql` prints; a test may ask,
/// for example, that one module alone writes a table. Statements from a text ([`query`](super::query)) are not among
/// them.
///
/// ```
/// let writers = skep_sql::statements().into_iter().filter(|statement| statement.writes().contains(&"audit"));
/// assert!(writers.into_iter().all(|statement| statement.file().ends_with("audit.rs")));
/// ```
#[cfg(not(target_family = "wasm"))]
#[must_use]
pub fn statements() -> Vec<&'static Statement> {
    let mut all: Vec<_> = inventory::iter::<Statement>.into_iter().collect();
    all.sort_by_key(|statement| (statement.file, statement.line));
    all
}

/// Why the application cannot have this database.
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
#[doc(hidden)]
pub fn refuse_others(opened: Dialect) -> Result<(), String> {
    let others = inventory::iter::<Statement>.into_iter().filter(|place| place.dialect != opened);
    let Some(Statement { file, line, dialect, .. }) = others.min_by_key(|place| (place.file, place.line)) else {
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

/// Notes a `sql!`. A component has no linker that could keep one; the same application, built native, lists them.
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __note_checked {
    ($dialect:ident $reads:expr, $writes:expr) => {
        $crate::__refuse_dialect! { $dialect }
        $crate::__inventory::submit! {
            $crate::Statement::new((::core::file!(), ::core::line!()), $crate::Dialect::$dialect, $reads, $writes)
        }
    };
}

#[cfg(target_family = "wasm")]
#[doc(hidden)]
#[macro_export]
macro_rules! __note_checked {
    ($dialect:ident $reads:expr, $writes:expr) => {
        $crate::__refuse_dialect! { $dialect }
    };
}

#[cfg(any(feature = "postgres", target_family = "wasm"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __refuse_dialect {
    ($dialect:ident) => {};
}

#[cfg(not(any(feature = "postgres", target_family = "wasm")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __refuse_dialect {
    (Sqlite) => {};
    (Postgres) => {
        ::core::compile_error!(
            "Cargo.toml says `database = \"postgres\"` in `[package.metadata.skep]`: that needs the feature `postgres` of skep-server, or of \
             skep"
        );
    };
}
