//! The application's database, as its migrations make it: in memory, within the compiler.
//!
//! Start reading at [`with`].

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime};

use rusqlite::Connection;
use skep_sql_lock::{Dialect, Functions, directives};
use skep_units::lock;

use crate::access::{self, Access};
use crate::directive::Scopes;
use crate::infer::{Kind, Type};
use crate::stand_in;
use crate::typed::Types;

/// Tables, views and functions, and a connection that knows them.
pub(crate) struct Schema {
    pub(crate) connection: Connection,
    /// By name in lower case.
    pub(crate) tables: HashMap<String, Table>,
    /// By name in lower case: number of arguments (-1 for any), and whether rows are aggregated.
    functions: HashMap<String, Vec<(i32, bool)>>,
    /// Those of the application, which are among the others, too.
    pub(crate) declared: Functions,
    /// What the statement that is being prepared does.
    pub(crate) access: Arc<Mutex<Access>>,
    /// The files it was made of.
    pub(crate) files: Vec<PathBuf>,
    /// By name in lower case: which tables, views and virtual tables have rows that belong to somebody.
    pub(crate) scoped: BTreeMap<String, Scoped>,
}

/// Whose rows are in a table.
#[derive(Clone)]
pub(crate) enum Scoped {
    /// Those of the one whom this column names.
    By(String),
    /// A view or a virtual table made of this table, which has such rows.
    Through(String),
}

pub(crate) struct Table {
    /// As it was written.
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) form: Form,
    pub(crate) strict: bool,
    /// Belongs to a virtual table.
    pub(crate) is_shadow: bool,
    pub(crate) has_rowid: bool,
    /// The text that made it.
    pub(crate) sql: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Table,
    View,
    Virtual,
}

pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) ty: Type,
    /// `*` leaves it out.
    pub(crate) hidden: bool,
    pub(crate) generated: bool,
}

/// For how long a folder is taken to be as it was: a compiler asks for it thousands of times in a second.
const FRESH: Duration = Duration::from_millis(100);

/// What tells one state of the folder from another.
type Stamp = Vec<(PathBuf, u64, Option<SystemTime>)>;

thread_local! {
    /// A compiler asks thousands of times for one folder, and a language server lives for hours.
    static KNOWN: RefCell<HashMap<PathBuf, Known>> = RefCell::default();
}

struct Known {
    stamp: Stamp,
    /// When the folder was last looked at.
    seen: Instant,
    schema: Schema,
}

/// Calls `work` with the schema of the migrations in this folder.
///
/// # Errors
/// The folder cannot be read, or a migration fails: a text for the developer.
pub(crate) fn with<R>(folder: &Path, work: impl FnOnce(&Schema) -> R) -> Result<R, String> {
    KNOWN.with_borrow_mut(|all| {
        let known = all.remove(folder).map_or_else(|| Known::open(folder), |known| known.refreshed(folder))?;
        Ok(work(&all.entry(folder.to_owned()).insert_entry(known).get().schema))
    })
}

impl Known {
    fn open(folder: &Path) -> Result<Self, String> {
        let (seen, stamp) = (Instant::now(), stamp(folder)?);
        let mut migrations = Vec::new();
        for (path, ..) in &stamp {
            let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
            migrations.push((path.clone(), text));
        }
        Ok(Self { stamp, seen, schema: Schema::of(&migrations)? })
    }

    fn refreshed(self, folder: &Path) -> Result<Self, String> {
        if self.seen.elapsed() < FRESH {
            return Ok(self);
        }
        let seen = Instant::now();
        if stamp(folder)? == self.stamp { Ok(Self { seen, ..self }) } else { Self::open(folder) }
    }
}

fn stamp(folder: &Path) -> Result<Stamp, String> {
    let unreadable = |error| {
        format!(
            "the folder of migrations {} cannot be read: {error}; `sql!` checks a statement against the files in it, such as \
             0001_posts.sql",
            folder.display()
        )
    };
    let mut stamp = Stamp::new();
    for file in fs::read_dir(folder).map_err(unreadable)? {
        let file = file.map_err(unreadable)?;
        let name = file.file_name().to_string_lossy().into_owned();
        let is_migration = Path::new(&name).extension().is_some_and(|extension| extension == "sql");
        if is_migration && !name.starts_with('.') {
            let metadata = file.metadata().map_err(unreadable)?;
            stamp.push((file.path(), metadata.len(), metadata.modified().ok()));
        }
    }
    stamp.sort();
    Ok(stamp)
}

impl Table {
    /// True for what SQLite and its modules keep for themselves.
    pub(crate) fn is_internal(&self) -> bool {
        self.is_shadow || self.name.starts_with("sqlite_")
    }
}

impl Schema {
    /// Runs the migrations in this order.
    pub(crate) fn of(migrations: &[(PathBuf, String)]) -> Result<Self, String> {
        let mut connection = Connection::open_in_memory().map_err(|error| error.to_string())?;
        // As the application has it: cascades are among what a statement writes.
        connection.execute_batch("pragma foreign_keys = on").map_err(|error| error.to_string())?;
        let (mut owners, mut declared, mut types) = (Scopes::default(), Functions::default(), Types::default());
        for (path, text) in migrations {
            let mut run = || {
                let said = directives(Dialect::Sqlite, text)?;
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                stand_in::follow(&mut declared, &connection, &file, &said)?;
                connection.execute_batch(text).map_err(|error| error.to_string())?;
                types.follow(&connection, text, &said)?;
                owners.follow(&connection, &said)
            };
            run().map_err(|error| format!("{}: {error}", path.display()))?;
        }
        types.rows_fit(&connection)?;
        let mut tables = tables(&connection).map_err(|error| error.to_string())?;
        types.apply(&mut tables);
        let functions = functions(&connection).map_err(|error| error.to_string())?;
        let access = Arc::<Mutex<Access>>::default();
        access::observe(&mut connection, Arc::clone(&access)).map_err(|error| error.to_string())?;
        let files = migrations.iter().map(|(path, _)| path.clone()).collect();
        let scoped = owners.0.into_iter().map(|(table, column)| (table, Scoped::By(column))).collect();
        let mut schema = Self { connection, tables, functions, declared, access, files, scoped };
        schema.scope_what_is_made_of_scoped();
        Ok(schema)
    }

    /// A view or a virtual table that is made of scoped tables has their rows, and one that is made of that, too.
    fn scope_what_is_made_of_scoped(&mut self) {
        if self.scoped.is_empty() {
            return;
        }
        let made: Vec<(String, Vec<String>)> =
            self.tables.iter().map(|(name, table)| (name.clone(), self.sources(table))).collect();
        loop {
            let before = self.scoped.len();
            for (name, sources) in &made {
                let source = sources.iter().find(|source| self.scoped.contains_key(*source));
                if let Some(source) = source.filter(|_| !self.scoped.contains_key(name)) {
                    self.scoped.insert(name.clone(), Scoped::Through(source.clone()));
                }
            }
            if self.scoped.len() == before {
                return;
            }
        }
    }

    /// The tables that a view or a virtual table is made of, in lower case.
    fn sources(&self, table: &Table) -> Vec<String> {
        match table.form {
            Form::View => {
                *self.access() = Access::default();
                // One that is broken is an error where it is used.
                drop(self.connection.prepare(&format!("select * from \"{}\"", table.name.replace('"', "\"\""))));
                self.access().reads.iter().map(|(table, _)| table.to_ascii_lowercase()).collect()
            }
            // Which ones, only its module knows: those whose names are in its text.
            Form::Virtual => {
                let words = table.sql.split(|c: char| !(c.is_alphanumeric() || c == '_'));
                words.map(str::to_ascii_lowercase).filter(|word| *word != table.name.to_ascii_lowercase()).collect()
            }
            // `post_index_content` belongs to `post_index`.
            Form::Table if table.is_shadow => {
                let name = table.name.to_ascii_lowercase();
                self.tables.keys().filter(|other| name.starts_with(&format!("{other}_"))).cloned().collect()
            }
            Form::Table => Vec::new(),
        }
    }

    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(&name.to_ascii_lowercase())
    }

    pub(crate) fn function_names(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }

    pub(crate) fn access(&self) -> MutexGuard<'_, Access> {
        lock(&self.access)
    }

    /// True if a call makes one row of many; also for functions that SQLite itself does not have.
    pub(crate) fn aggregates(&self, function: &str, arguments: usize) -> bool {
        let Some(forms) = self.functions.get(&function.to_ascii_lowercase()) else { return true };
        let exact = i32::try_from(arguments).ok().and_then(|count| forms.iter().find(|(wanted, _)| *wanted == count));
        exact.or_else(|| forms.iter().find(|(wanted, _)| *wanted < 0)).is_none_or(|(_, aggregates)| *aggregates)
    }
}

fn tables(connection: &Connection) -> rusqlite::Result<HashMap<String, Table>> {
    let mut list = connection.prepare(
        "select list.name, list.type, list.wr, list.strict, coalesce(made.sql, '')
         from pragma_table_list list left join sqlite_schema made on made.name = list.name and made.type in ('table', 'view')
         where list.schema = 'main'",
    )?;
    let mut tables = HashMap::new();
    let mut rows = list.query([])?;
    while let Some(row) = rows.next()? {
        let (name, form): (String, String) = (row.get(0)?, row.get(1)?);
        let is_shadow = form == "shadow";
        let form = match form.as_str() {
            "view" => Form::View,
            "virtual" => Form::Virtual,
            // Shadow tables belong to virtual ones, and can be read like any.
            _ => Form::Table,
        };
        let (without_rowid, strict): (bool, bool) = (row.get(2)?, row.get(3)?);
        let columns = match columns(connection, &name, form, without_rowid) {
            Ok(columns) => columns,
            // SQLite says so again where somebody reads it.
            Err(_) if form == Form::View => Vec::new(),
            Err(error) => return Err(error),
        };
        let has_rowid = form == Form::Table && !without_rowid;
        let table = Table { columns, form, strict, is_shadow, has_rowid, sql: row.get(4)?, name };
        tables.insert(table.name.to_ascii_lowercase(), table);
    }
    Ok(tables)
}

/// Columns of which an index of their own lets no value come twice. For texts only if all compare them as bytes.
fn unique(connection: &Connection, table: &str) -> rusqlite::Result<BTreeSet<String>> {
    let mut list = connection.prepare(
        "select info.name from pragma_index_list(?1) list, pragma_index_xinfo(list.name) info, pragma_table_xinfo(?1) column
         where list.\"unique\" and not list.partial and info.key and info.cid = column.cid
            and (select count(*) from pragma_index_xinfo(list.name) where key) = 1
            and (upper(column.type) like '%INT%' or info.coll = 'BINARY' and not exists (
                select 1 from sqlite_schema where type = 'table' and name = ?1 and sql like '%collate%'))",
    )?;
    list.query_map([table], |row| row.get(0))?.collect()
}

fn columns(connection: &Connection, table: &str, form: Form, without_rowid: bool) -> rusqlite::Result<Vec<Column>> {
    let mut list = connection.prepare("select name, type, \"notnull\", pk, hidden from pragma_table_xinfo(?)")?;
    let rows = list.query_map([table], |row| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, bool>(2)?,
            row.get::<_, i64>(3)?,
            row.get::<_, i64>(4)?,
        ))
    })?;
    let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    let key_columns = rows.iter().filter(|(.., key, _)| *key > 0).count();
    // A primary key that is the rowid has no index of its own.
    let has_key_index =
        connection.prepare("select 1 from pragma_index_list(?) where origin = 'pk'")?.exists([table])?;
    let unique = unique(connection, table)?;
    let columns = rows.into_iter().map(|(name, declared, not_null, key, hidden)| {
        let is_rowid = key > 0 && key_columns == 1 && !without_rowid && !has_key_index;
        let (kind, nullable) = match form {
            Form::Table => (Kind::declared(&declared), !(not_null || is_rowid)),
            // Nothing is promised of what modules and views answer.
            Form::Virtual | Form::View => (Kind::Any, true),
        };
        let is_unique = form == Form::Table && (is_rowid || unique.contains(&name));
        let ty = Type { nullable, unique: is_unique, ..Type::of(kind) };
        Column { name, ty, hidden: hidden == 1, generated: hidden > 1 }
    });
    Ok(columns.collect())
}

fn functions(connection: &Connection) -> rusqlite::Result<HashMap<String, Vec<(i32, bool)>>> {
    let mut list = connection.prepare("select distinct name, narg, type from pragma_function_list")?;
    let mut functions = HashMap::<String, Vec<(i32, bool)>>::new();
    let mut rows = list.query([])?;
    while let Some(row) = rows.next()? {
        let (name, arguments, form): (String, i32, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        functions.entry(name.to_ascii_lowercase()).or_default().push((arguments, form != "s"));
    }
    Ok(functions)
}
