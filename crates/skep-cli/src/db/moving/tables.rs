//! The tables of both sides, and which goes where.

use std::path::Path;

use serde_json::Value;

use super::super::address::Address;
use super::super::{postgres, sqlite};
use super::{quoted, text};

/// Tables that say what a database is, and not what is in it.
const OF_THE_DATABASE: [&str; 2] = ["skep_migrations", "skep_job_schema"];

/// A table on one side.
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    /// Of SQLite: the last number that was given, if no number comes twice.
    pub(super) last: i64,
}

pub(super) struct Column {
    pub(super) name: String,
    /// Of PostgreSQL.
    pub(super) kind: String,
    /// What gives its values; empty for most.
    pub(super) sequence: String,
}

/// What belongs to tables of PostgreSQL, by their names.
pub(super) struct Schema {
    pub(super) tables: Vec<Table>,
    /// Foreign keys that are checked with each statement.
    pub(super) keys: Vec<[String; 2]>,
    /// Triggers of somebody, and how each is enabled.
    pub(super) triggers: Vec<[String; 3]>,
    /// Materialized views, in the order in which they were made.
    pub(super) views: Vec<String>,
}

/// Rows of texts.
fn rows<const N: usize>(address: &Address, columns: [&str; N], from: &str) -> Result<Vec<[String; N]>, String> {
    let query = format!(
        "select coalesce(json_agg(json_build_array({})), '[]') from {from}",
        columns.join("::text, ") + "::text"
    );
    let found: Vec<Vec<String>> = serde_json::from_str(&postgres::ask(address, &query)?)
        .map_err(|error| format!("what psql says cannot be read: {error}"))?;
    Ok(found.into_iter().filter_map(|row| row.try_into().ok()).collect())
}

impl Schema {
    pub(super) fn read(address: &Address) -> Result<Self, String> {
        let tables = tables(address)?;
        if tables.is_empty() {
            return Err(format!("{address} has no tables: start the application with it once, which makes them"));
        }
        let keys = "pg_constraint join pg_class r on r.oid = conrelid where contype = 'f' and not condeferrable
                    and conparentid = 0 and connamespace = current_schema()::regnamespace";
        let triggers = "pg_trigger join pg_class r on r.oid = tgrelid where not tgisinternal and tgenabled <> 'D'
                        and tgparentid = 0 and r.relnamespace = current_schema()::regnamespace";
        let views = "(select relname from pg_class where relkind = 'm' and relispopulated
                     and relnamespace = current_schema()::regnamespace order by oid) as views";
        Ok(Self {
            tables,
            keys: rows(address, ["r.relname", "conname"], keys)?,
            triggers: rows(address, ["r.relname", "tgname", "tgenabled"], triggers)?,
            views: rows(address, ["relname"], views)?.into_iter().flatten().collect(),
        })
    }
}

/// Tables of PostgreSQL, without generated columns.
fn tables(address: &Address) -> Result<Vec<Table>, String> {
    let owned = "pg_get_serial_sequence(quote_ident(n.nspname) || '.' || quote_ident(c.relname), a.attname)";
    let named = "(select s.oid::regclass::text from pg_attrdef f
                 join pg_depend d on d.classid = 'pg_attrdef'::regclass and d.objid = f.oid
                 join pg_class s on s.oid = d.refobjid and s.relkind = 'S'
                 where f.adrelid = c.oid and f.adnum = a.attnum limit 1)";
    let sequence = format!("coalesce({owned}, {named}, '')");
    let columns = rows(
        address,
        ["c.relname", "a.attname", "format_type(a.atttypid, null)", &sequence],
        "pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
         where c.relkind in ('r', 'p') and not c.relispartition and n.nspname = current_schema()
         and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''",
    )?;
    let mut tables: Vec<Table> = Vec::new();
    for [table, name, kind, sequence] in columns {
        let column = Column { name, kind, sequence };
        match tables.iter_mut().find(|one| one.name == table) {
            Some(known) => known.columns.push(column),
            None => tables.push(Table { name: table, columns: vec![column], last: 0 }),
        }
    }
    Ok(tables)
}

/// Tables of the file, without virtual ones, what those keep, and generated columns.
pub(super) fn of_sqlite(file: &Path) -> Result<Vec<Table>, String> {
    let counts = sqlite::ask(file, "select count(*) from sqlite_schema where name = 'sqlite_sequence'")? == "1";
    let last = if counts { "(select seq from sqlite_sequence s where s.name = t.name)" } else { "null" };
    let columns = "(select json_group_array(name) from pragma_table_xinfo(t.name) where hidden = 0)";
    let found = sqlite::ask(
        file,
        &format!(
            "select json_group_array(json_array(t.name, json({columns}), {last})) from pragma_table_list t
             where schema = 'main' and type = 'table' and t.name not like 'sqlite^_%' escape '^'"
        ),
    )?;
    let found: Vec<(String, Vec<String>, Value)> =
        serde_json::from_str(&found).map_err(|error| format!("what sqlite3 says cannot be read: {error}"))?;
    let column = |name| Column { name, kind: String::new(), sequence: String::new() };
    let table = |(name, columns, last): (_, Vec<String>, Value)| Table {
        name,
        columns: columns.into_iter().map(column).collect(),
        last: last.as_i64().unwrap_or(0),
    };
    Ok(found.into_iter().map(table).collect())
}

/// What is not copied, since SQLite makes it of something else or a module keeps it.
pub(super) fn virtual_tables(file: &Path) -> Result<String, String> {
    let list = "select group_concat(name, ', ') from pragma_table_list where schema = 'main' and type = 'virtual'";
    sqlite::ask(file, list)
}

/// Each table with the one that it goes to, or all that cannot go anywhere.
pub(super) fn pairs<'t>(
    file: &Path,
    here: &'t [Table],
    there: &'t [Table],
) -> Result<Vec<(&'t Table, &'t Table)>, String> {
    let (mut pairs, mut problems) = (Vec::new(), Vec::new());
    for from in here.iter().filter(|table| !OF_THE_DATABASE.contains(&&*table.name)) {
        let Some(to) = there.iter().find(|to| to.name.eq_ignore_ascii_case(&from.name)) else {
            if sqlite::ask(file, &format!("select exists (select 1 from {})", quoted(&from.name)))? == "1" {
                problems.push(format!("the table {} does not exist there, and has rows", from.name));
            }
            continue;
        };
        let missing = from.columns.iter().filter(|column| to.column(&column.name).is_none());
        problems.extend(missing.map(|column| format!("{}.{} does not exist there", from.name, column.name)));
        problems.extend(unfit(file, from, to)?);
        pairs.push((from, to));
    }
    if problems.is_empty() { Ok(pairs) } else { Err(format!("nothing was moved:\n  {}", problems.join("\n  "))) }
}

impl Table {
    pub(super) fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }
}

/// Columns with values that would silently be others there.
fn unfit(file: &Path, from: &Table, to: &Table) -> Result<Vec<String>, String> {
    let checks = from.columns.iter().filter_map(|column| {
        let (name, kind) = (quoted(&column.name), &to.column(&column.name)?.kind);
        let check = |condition: String, what: &str| {
            let says = text(&format!("{}.{} {what}", from.name, column.name));
            format!("select {says} where exists (select 1 from {} where {condition})", quoted(&from.name))
        };
        let nul = (kind != "bytea").then(|| {
            let condition = format!("typeof({name}) = 'text' and instr(cast({name} as blob), x'00') > 0");
            check(condition, "has a text with the character NUL, which PostgreSQL does not store")
        });
        let bytes = !["bytea", "uuid"].contains(&&**kind);
        let bytes =
            bytes.then(|| check(format!("typeof({name}) = 'blob'"), &format!("has bytes, and is {kind} there")));
        Some(nul.into_iter().chain(bytes))
    });
    let checks: Vec<String> = checks.flatten().collect();
    if checks.is_empty() {
        return Ok(Vec::new());
    }
    // The parts of one statement are bounded.
    let said: Result<Vec<String>, String> =
        checks.chunks(100).map(|checks| sqlite::ask(file, &checks.join(" union all "))).collect();
    Ok(said?.iter().flat_map(|said| said.lines().map(str::to_owned)).collect())
}

/// Tables that have rows already.
pub(super) fn with_rows(address: &Address, pairs: &[(&Table, &Table)]) -> Result<Vec<String>, String> {
    let exists = |(_, to): &(&Table, &Table)| {
        format!("select {} as name where exists (select 1 from {})", text(&to.name), quoted(&to.name))
    };
    let parts: Vec<String> = pairs.iter().map(exists).collect();
    if parts.is_empty() {
        return Ok(Vec::new());
    }
    let names = rows(address, ["name"], &format!("({}) as full_ones", parts.join(" union all ")))?;
    Ok(names.into_iter().flatten().collect())
}
