//! Databases beside the first one.

use std::any::TypeId;
use std::sync::Arc;

use super::App;
use crate::context::cache::Caches;
use crate::context::setup::{Setup, StartError};
use crate::sql::Database;

#[cfg(not(target_family = "wasm"))]
pub(super) use self::native::Named;

/// The host of a component opens one database.
#[cfg(target_family = "wasm")]
pub(super) enum Named {}

#[cfg(target_family = "wasm")]
impl Named {
    fn id(&self) -> TypeId {
        match *self {}
    }

    fn name(&self) -> &'static str {
        match *self {}
    }

    fn open(&self, _: &Setup) -> Result<Database, StartError> {
        match *self {}
    }

    fn check(&self, _: &Setup) -> Result<(), StartError> {
        match *self {}
    }
}

#[cfg(not(target_family = "wasm"))]
mod native {
    use std::any::{TypeId, type_name};
    use std::path::{Path, PathBuf};

    use crate::application::app::App;
    use crate::application::app::database::{check_one, describe_migrations, open_one};
    use crate::context::setup::{Setup, StartError};
    use crate::sql::{Database, Migrations, NamedDatabase};

    /// The folder in the data directory with a folder for each.
    const FOLDER: &str = "databases";

    /// One that the application has declared.
    pub(in crate::application::app) struct Named {
        id: TypeId,
        name: &'static str,
        migrations: Migrations,
    }

    impl App {
        /// Gives the application one more database. An example is at [`NamedDatabase`].
        ///
        /// Each has transactions of its own: none spans two of them. Not in components, whose host opens one.
        #[must_use]
        pub fn database_of<D: NamedDatabase>(mut self) -> Self {
            let (name, ty) = (D::NAME, type_name::<D>());
            let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
            if name.is_empty() || !name.bytes().all(is_plain) {
                let problem =
                    format!("the database `{ty}` has the name {name:?}; expected `a` to `z`, `0` to `9` and `_`");
                self.problems.push(problem);
            }
            if self.databases.iter().any(|known| known.name == name) {
                self.problems.push(format!("two databases are named {name:?}: `{ty}` is the second one"));
            }
            self.databases.push(Named { id: TypeId::of::<D>(), name, migrations: D::MIGRATIONS });
            self
        }
    }

    impl Named {
        pub(super) fn id(&self) -> TypeId {
            self.id
        }

        pub(in crate::application::app) fn name(&self) -> &'static str {
            self.name
        }

        pub(in crate::application::app) fn migrations(&self) -> Migrations {
            self.migrations
        }

        /// Where its file is, if it is of SQLite.
        pub(in crate::application::app) fn folder(&self, data: &Path) -> PathBuf {
            data.join(FOLDER).join(self.name)
        }

        pub(super) fn open(&self, setup: &Setup) -> Result<Database, StartError> {
            open_one(&self.migrations, &self.setup(setup))
        }

        pub(super) fn check(&self, setup: &Setup) -> Result<(), StartError> {
            check_one(&self.migrations, &self.setup(setup))
        }

        /// A line for each migration, with the name of the database before it.
        pub(in crate::application::app) fn describe(&self, setup: &Setup) -> Result<Vec<String>, StartError> {
            let lines = describe_migrations(&self.migrations, &self.setup(setup))?;
            Ok(lines.into_iter().map(|line| format!("{}: {line}", self.name)).collect())
        }

        /// The setup of an application that has no other database than this one.
        fn setup(&self, setup: &Setup) -> Setup {
            Setup {
                data: self.folder(&setup.data),
                database: setup.databases.get(self.name).cloned(),
                sql: setup.sql.clone().replica(None),
                ..setup.clone()
            }
        }
    }
}

impl App {
    /// Finds what is wrong with those databases, and with settings for them. Nothing is changed.
    pub(super) fn check_databases(&self, setup: &Setup) -> Result<(), StartError> {
        let problems = unknown(&self.databases, setup);
        if !problems.is_empty() {
            return Err(StartError { problems });
        }
        self.databases.iter().filter(|_| !setup.keeps_nothing()).try_for_each(|one| one.check(setup))
    }
}

/// Settings for databases that there are not.
pub(super) fn unknown(databases: &[Named], setup: &Setup) -> Vec<String> {
    let names: Vec<_> = databases.iter().map(Named::name).collect();
    let mut unknown: Vec<&String> = setup.databases.keys().filter(|name| !names.contains(&name.as_str())).collect();
    unknown.sort();
    let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let problem = |name: &String| {
        format!("databases.{name}.address: the application has no database {name:?} (App::database_of); it has {has}")
    };
    let is_file = |name: &&&'static str| setup.cluster && !setup.databases.contains_key(**name);
    let local = names.iter().filter(is_file).map(|name| {
        format!("databases.{name}.address is empty: with cluster.data, a file of SQLite is of one machine")
    });
    unknown.into_iter().map(problem).chain(local).collect()
}

/// Opens them, beside the first one, and looks whether the tables are there whose writes are to be ignored.
pub(super) fn open(
    first: Option<&Database>,
    databases: &[Named],
    setup: &Setup,
    ignored: &[&'static str],
) -> Result<Vec<(TypeId, Database)>, StartError> {
    let open = |one: &Named| Ok((one.id(), one.open(setup)?));
    let opened: Vec<_> = databases.iter().map(open).collect::<Result<_, _>>()?;
    check_tables(&all(first, &opened).collect::<Vec<_>>(), ignored)?;
    Ok(opened)
}

/// Has the commits of all invalidate what was made of their tables.
pub(super) fn watch(first: Option<&Database>, others: &[(TypeId, Database)], caches: Caches) -> Arc<Caches> {
    let caches = Arc::new(caches);
    for database in all(first, others) {
        database.on_commit(Arc::clone(&caches) as _);
    }
    caches
}

fn all<'d>(first: Option<&'d Database>, others: &'d [(TypeId, Database)]) -> impl Iterator<Item = &'d Database> {
    first.into_iter().chain(others.iter().map(|(_, database)| database))
}

/// Tables whose writes are to be ignored are there.
fn check_tables(databases: &[&Database], tables: &[&'static str]) -> Result<(), StartError> {
    if tables.is_empty() {
        return Ok(());
    }
    if databases.is_empty() {
        return Err(StartError::new("App::ignore_writes names tables of a database, and there is no App::database"));
    }
    let known: crate::sql::Result<Vec<_>> = databases.iter().map(|database| database.tables()).collect();
    let known = known.map_err(|error| StartError::new(error.to_string()))?.concat();
    let Some(unknown) = tables.iter().find(|table| !known.iter().any(|name| name == *table)) else { return Ok(()) };
    let near = skep_units::nearest(unknown, known.iter().map(String::as_str));
    let help = near.map(|near| format!(": did you mean {near:?}?")).unwrap_or_default();
    Err(StartError::new(format!("App::ignore_writes: the database has no table {unknown:?}{help}")))
}
