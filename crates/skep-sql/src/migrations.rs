//! How the schema came to be what it is.
//!
//! Migrations are embedded in the program and run when the database is opened, each once, in a transaction of its own
//! and under the file's write lock: of several processes that start at once, one runs it and the others find it done.
//!
//! Those of a component are run by its host. Start reading at `migrate`.

use skep_sql_lock::{Dialect, Directive, directives};

#[cfg(target_family = "wasm")]
use super::checked;
use super::function::Function;

/// The migrations of a program, in their order. Made by [`migrations!`](super::migrations).
#[derive(Clone, Copy, Debug)]
pub struct Migrations {
    list: &'static [Migration],
    /// Where they were when the program was compiled.
    folder: Option<&'static str>,
    /// The same schema for PostgreSQL.
    postgres: Option<&'static Migrations>,
    functions: &'static [Function],
}

/// One step of the schema: a file of SQL statements.
#[derive(Clone, Copy, Debug)]
pub struct Migration(Step<'static>);

/// The same, with texts of any origin: those of a component live as long as its host needs them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<'t> {
    pub(super) number: u32,
    pub(super) file: &'t str,
    pub(super) text: &'t str,
}

/// What is run of them, and where they came from.
#[cfg(not(target_family = "wasm"))]
pub(super) struct Steps<'t> {
    pub(super) list: Vec<Step<'t>>,
    pub(super) folder: Option<&'static str>,
    /// What the application gives for those that are declared.
    pub(super) functions: &'static [Function],
}

/// Why an application does not start on PostgreSQL.
pub(super) const NOT_FOR_POSTGRES: &str =
    "the application has migrations for SQLite only; put those for PostgreSQL into the folder `postgres` beside them";

/// Why it does not start on SQLite.
#[cfg(target_family = "wasm")]
const NOT_FOR_SQLITE: &str = "the application has migrations for PostgreSQL only; its host needs the setting `database`, with the address of one";

#[cfg(not(target_family = "wasm"))]
impl<'t> Steps<'t> {
    /// Those of a component: number, name of the file, text.
    pub(super) fn of_guest(list: &'t [(u32, String, String)]) -> Self {
        let list = list.iter().map(|(number, file, text)| Step { number: *number, file, text }).collect();
        Self { list, folder: None, functions: &[] }
    }
}

impl Migration {
    /// `file` is its name with number and ending, `0001_posts.sql`; `text` is what it holds.
    #[must_use]
    pub const fn new(number: u32, file: &'static str, text: &'static str) -> Self {
        Self(Step { number, file, text })
    }
}

impl Migrations {
    /// No migration: the schema is somebody else's.
    pub const NONE: Self = Self::new(&[]);

    /// These migrations, numbers ascending.
    #[must_use]
    pub const fn new(list: &'static [Migration]) -> Self {
        Self { list, folder: None, postgres: None, functions: &[] }
    }

    /// The same, taken from this folder. While developing (`debug_assertions`), a file that was added there after the
    /// program was compiled is an error, because Cargo notices changed files but not new ones.
    #[must_use]
    pub const fn from_folder(mut self, folder: &'static str) -> Self {
        self.folder = Some(folder);
        self
    }

    /// The same, and those for PostgreSQL. [`migrations!`](super::migrations) takes them from the folder `postgres`
    /// inside the other one.
    #[must_use]
    pub const fn with_postgres(mut self, postgres: &'static Self) -> Self {
        self.postgres = Some(postgres);
        self
    }

    /// The same, and the functions of the application that they declare for SQLite, made by
    /// [`sql_function!`](crate::sql_function!), which has an example. Each must be declared by a migration
    /// (`-- skep: function slug(text) text`), with the same types, and each that is declared must be given: otherwise
    /// the database is not opened.
    #[must_use]
    pub const fn with_functions(mut self, functions: &'static [Function]) -> Self {
        self.functions = functions;
        self
    }

    /// True if one says whose the rows of a table are.
    #[doc(hidden)]
    pub fn have_scopes(&self) -> bool {
        let is_scope = |directive: &Directive<'_>| matches!(directive, Directive::Scoped { .. });
        let says = |text| {
            directives(Dialect::Sqlite, text).is_ok_and(|all| all.iter().any(|(_, directive)| is_scope(directive)))
        };
        self.list.iter().any(|migration| says(migration.0.text))
    }

    /// Those for PostgreSQL.
    #[cfg(all(feature = "postgres", not(target_family = "wasm")))]
    pub(super) fn for_postgres(&self) -> Result<&'static Self, crate::open_error::Problem> {
        match self.postgres {
            Some(postgres) => Ok(postgres),
            None if self.list.is_empty() => Ok(&Self::NONE),
            None => Err(crate::open_error::Problem::NotForPostgres),
        }
    }

    /// Those of the application.
    #[doc(hidden)]
    pub fn functions(&self) -> &'static [Function] {
        self.functions
    }

    #[cfg(not(target_family = "wasm"))]
    pub(super) fn steps(&self) -> Steps<'static> {
        let list = self.list.iter().map(|migration| migration.0).collect();
        Steps { list, folder: self.folder, functions: self.functions }
    }

    /// Number, name of the file and text of each, for a host with this database; or why they cannot be read.
    #[cfg(target_family = "wasm")]
    pub(super) fn list(&self, dialect: checked::Dialect) -> Result<Vec<(u32, String, String)>, &'static str> {
        let list = match (dialect, self.postgres) {
            (checked::Dialect::Sqlite, Some(_)) if self.list.is_empty() => return Err(NOT_FOR_SQLITE),
            (checked::Dialect::Postgres, None) if !self.list.is_empty() => return Err(NOT_FOR_POSTGRES),
            (checked::Dialect::Postgres, Some(postgres)) => postgres.list,
            _ => self.list,
        };
        Ok(list.iter().map(|Migration(one)| (one.number, one.file.to_owned(), one.text.to_owned())).collect())
    }
}
