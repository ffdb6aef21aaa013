//! `skep db move`: what is in a file of SQLite becomes what is in a database of PostgreSQL.
//!
//! The application has made its tables there. `sqlite3` writes a script of `copy` for `psql`, which runs it in one
//! transaction: all of it, or nothing. PostgreSQL reads each value as the type that its column has.
//!
//! Each line comes as hexadecimal digits: some versions of `sqlite3` change control characters that they print.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, BufRead as _, BufReader, BufWriter, Seek as _, Write as _};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Stdio};

use serde_json::Value;

use super::address::Address;
use super::target::{Database, Target};
use super::{asked, postgres, sqlite};

/// Tables that say what a database is, and not what is in it.
const OF_THE_DATABASE: [&str; 2] = ["skep_migrations", "skep_job_schema"];

/// A table on one side.
struct Table {
    name: String,
    columns: Vec<String>,
    /// Columns whose values a sequence gives. Of SQLite: the last number that was given, if no number comes twice.
    serial: Vec<String>,
    last: i64,
    has_rows: bool,
}

/// Moves the file into the database of the settings.
pub(super) fn run(target: &Target, file: Option<&Path>, is_confirmed: bool) -> Result<String, String> {
    let file = file.unwrap_or(&target.file);
    let Database::Postgres(address) = &target.database else {
        return Err("set `database` to the address of a PostgreSQL, in skep.toml or as SKEP_DATABASE".to_owned());
    };
    if let Some(socket) = target.server() {
        return Err(format!("a server uses {target} (it listens on {}): stop it before", socket.display()));
    }
    let (there, here) = (tables_of_postgres(address)?, tables_of_sqlite(file)?);
    let pairs = pairs(file, &here, &there)?;
    let full: Vec<&str> = pairs.iter().filter(|(_, to)| to.has_rows).map(|(_, to)| &*to.name).collect();
    let question = format!("Delete all rows of {} in {target} before? [y/N] ", full.join(", "));
    if !full.is_empty() && !is_confirmed && !asked(&question) {
        return Err("nothing was moved; --yes deletes such rows without asking".to_owned());
    }
    let moved = move_all(file, address, &script(&pairs, &constraints(address)?))?;
    Ok(format!("{}from {} to {target}; sessions are not moved\n", report(&moved), file.display()))
}

/// A line for each table that has rows.
fn report(moved: &str) -> String {
    let lines = moved.lines().filter_map(|line| line.rsplit_once('|')).filter(|(_, rows)| *rows != "0");
    lines.map(|(table, rows)| format!("{rows:>10}  {table}\n")).collect::<Vec<_>>().concat()
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// Tables of the schema of the user, without generated columns.
fn tables_of_postgres(address: &Address) -> Result<Vec<Table>, String> {
    let of_column = "from pg_attribute a where a.attrelid = c.oid and attnum > 0 and not attisdropped";
    let serial = "pg_get_serial_sequence(quote_ident(n.nspname) || '.' || quote_ident(c.relname), attname) is not null";
    let rows = "query_to_xml(format('select 1 as row from %I.%I limit 1', n.nspname, c.relname), false, true, '')";
    let found = postgres::ask(
        address,
        &format!(
            "select coalesce(json_agg(json_build_object('name', c.relname,
             'columns', (select coalesce(json_agg(attname), '[]') {of_column} and attgenerated = ''),
             'serial', (select coalesce(json_agg(attname), '[]') {of_column} and {serial}),
             'has_rows', {rows}::text like '%<row>%')), '[]')
             from pg_class c join pg_namespace n on n.oid = c.relnamespace
             where c.relkind in ('r', 'p') and not c.relispartition and n.nspname = current_schema()"
        ),
    )?;
    let tables = tables(&found)?;
    if tables.is_empty() {
        return Err(format!("{address} has no tables: start the application with it once, which makes them"));
    }
    Ok(tables)
}

/// Tables of the file, without virtual ones, what those keep, and generated columns.
fn tables_of_sqlite(file: &Path) -> Result<Vec<Table>, String> {
    let counts = sqlite::ask(file, "select count(*) from sqlite_schema where name = 'sqlite_sequence'")? == "1";
    let last = if counts { "(select seq from sqlite_sequence s where s.name = t.name)" } else { "null" };
    let columns = "(select json_group_array(name) from pragma_table_xinfo(t.name) where hidden = 0)";
    let found = sqlite::ask(
        file,
        &format!(
            "select json_group_array(json_object('name', t.name, 'columns', json({columns}), 'last', {last}))
             from pragma_table_list t where schema = 'main' and type = 'table' and t.name not like 'sqlite^_%' escape '^'"
        ),
    )?;
    tables(&found)
}

fn tables(json: &str) -> Result<Vec<Table>, String> {
    let found: Value =
        serde_json::from_str(json).map_err(|error| format!("a list of tables cannot be read: {error}"))?;
    let list =
        |value: &Value| value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
    let table = |one: &Value| Table {
        name: one["name"].as_str().unwrap_or_default().to_owned(),
        columns: list(&one["columns"]),
        serial: list(&one["serial"]),
        last: one["last"].as_i64().unwrap_or(0),
        has_rows: one["has_rows"].as_bool().unwrap_or(false),
    };
    Ok(found.as_array().into_iter().flatten().map(table).collect())
}

/// Foreign keys that are checked with each statement: table and name.
fn constraints(address: &Address) -> Result<BTreeMap<String, Vec<String>>, String> {
    let found = postgres::ask(
        address,
        "select coalesce(json_agg(json_build_array(r.relname, conname)), '[]') from pg_constraint
         join pg_class r on r.oid = conrelid where contype = 'f' and not condeferrable and conparentid = 0
         and connamespace = current_schema()::regnamespace",
    )?;
    let pairs: Vec<(String, String)> =
        serde_json::from_str(&found).map_err(|error| format!("foreign keys: {error}"))?;
    let mut constraints: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (table, name) in pairs {
        constraints.entry(table).or_default().push(name);
    }
    Ok(constraints)
}

/// Each table with the one that it goes to, or what cannot go anywhere.
fn pairs<'t>(file: &Path, here: &'t [Table], there: &'t [Table]) -> Result<Vec<(&'t Table, &'t Table)>, String> {
    let (mut pairs, mut problems) = (Vec::new(), Vec::new());
    for from in here.iter().filter(|table| !OF_THE_DATABASE.contains(&&*table.name)) {
        let Some(to) = there.iter().find(|to| to.name.eq_ignore_ascii_case(&from.name)) else {
            if sqlite::ask(file, &format!("select exists (select 1 from {})", quoted(&from.name)))? == "1" {
                problems.push(format!("the table {} does not exist there, and has rows", from.name));
            }
            continue;
        };
        let has = |column: &String| to.columns.iter().any(|one| one.eq_ignore_ascii_case(column));
        let missing = from.columns.iter().filter(|column| !has(column));
        problems.extend(missing.map(|column| format!("{}.{column} does not exist there", from.name)));
        pairs.push((from, to));
    }
    if problems.is_empty() { Ok(pairs) } else { Err(format!("nothing was moved:\n  {}", problems.join("\n  "))) }
}

/// What `sqlite3` runs, and prints for `psql`.
struct Script(String);

impl Script {
    /// A line that `psql` runs.
    fn say(&mut self, statement: &str) {
        self.print(&text(statement), "");
    }

    fn print(&mut self, value: &str, from: &str) {
        // Writing into memory does not fail.
        _ = writeln!(self.0, "select hex({value}) {from};");
    }

    /// The rows of a table, and how many they are.
    fn copy(&mut self, from: &Table, to: &Table) {
        let named = |column: &&String| to.columns.iter().find(|one| one.eq_ignore_ascii_case(column));
        let columns: Vec<String> =
            from.columns.iter().filter_map(|column| named(&column)).map(|one| quoted(one)).collect();
        self.say(&format!("copy {} ({}) from stdin with (delimiter '|');", quoted(&to.name), columns.join(", ")));
        let values: Vec<String> = from.columns.iter().map(|column| copied(&quoted(column))).collect();
        self.print(&values.join(" || '|' || "), &format!("from {}", quoted(&from.name)));
        self.say("\\.");
        self.say(&format!("select {}, count(*) from {};", text(&to.name), quoted(&to.name)));
    }

    /// Numbers go on behind the last one.
    fn go_on(&mut self, from: &Table, to: &Table) {
        for column in &to.serial {
            let (table, of) = (quoted(&to.name), quoted(column));
            let sequence = format!("pg_get_serial_sequence({}, {})", text(&table), text(column));
            let last = format!("greatest((select max({of}) from {table}), {})", from.last);
            self.say(&format!(
                "do $$ begin perform setval({sequence}, n) from (select {last} as n) as last where n > 0; end $$;"
            ));
        }
    }
}

fn script(pairs: &[(&Table, &Table)], constraints: &BTreeMap<String, Vec<String>>) -> String {
    let mut script = Script("begin;\n".to_owned());
    let tables: Vec<String> = pairs.iter().map(|(_, to)| quoted(&to.name)).collect();
    let keys = constraints.iter().flat_map(|(table, keys)| keys.iter().map(|key| (quoted(table), quoted(key))));
    let keys: Vec<(String, String)> = keys.collect();
    script.say("begin;");
    // Rows are copied as they are: triggers have had their effect.
    for table in &tables {
        script.say(&format!("alter table {table} disable trigger user;"));
    }
    for (table, key) in &keys {
        script.say(&format!("alter table {table} alter constraint {key} deferrable initially deferred;"));
    }
    if !tables.is_empty() {
        script.say(&format!("truncate {};", tables.join(", ")));
    }
    for (from, to) in pairs {
        script.copy(from, to);
        script.go_on(from, to);
    }
    script.say("set constraints all immediate;");
    for (table, key) in &keys {
        script.say(&format!("alter table {table} alter constraint {key} not deferrable;"));
    }
    for table in &tables {
        script.say(&format!("alter table {table} enable trigger user;"));
    }
    script.say("commit;");
    script.0
}

/// A column as `copy` reads it (PostgreSQL, COPY, text format).
fn copied(column: &str) -> String {
    // The backslash comes first.
    let escapes = [(92, "\\\\"), (124, "\\|"), (10, "\\n"), (13, "\\r")];
    let escape = |value: String, (code, with)| format!("replace({value}, char({code}), '{with}')");
    let plain = escapes.into_iter().fold(column.to_owned(), escape);
    format!(
        "case typeof({column}) when 'null' then '\\N' when 'integer' then {column} when 'blob' then '\\\\x' || hex({column})
         when 'real' then case when cast(printf('%!.15g', {column}) as real) = {column} then printf('%!.15g', {column})
         else printf('%!.17g', {column}) end else {plain} end"
    )
}

/// The bytes of a line.
fn decoded(line: &[u8]) -> Option<Vec<u8>> {
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    line.chunks(2).map(byte).collect()
}

/// Has one program print what the other one runs. Gives what that says.
fn move_all(file: &Path, address: &Address, script: &str) -> Result<String, String> {
    let mut input = tempfile::tempfile().map_err(|error| format!("a temporary file: {error}"))?;
    let written = input.write_all(script.as_bytes()).and_then(|()| input.rewind());
    written.map_err(|error| format!("a temporary file: {error}"))?;
    let mut from = sqlite::shell(file)?;
    from.args(["-batch", "-bail", "-list", "-noheader"]).stdin(input).stdout(Stdio::piped());
    let mut from = from.spawn().map_err(|error| format!("sqlite3 does not start: {error}"))?;
    let mut to = postgres::reader(address);
    let to = to.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut to = to.map_err(|error| format!("psql does not start: {error}"))?;
    // It stops reading where a statement fails, and says why.
    _ = translate(from.stdout.take(), to.stdin.take());
    let ended = to.wait_with_output().map_err(|error| format!("psql: {error}"))?;
    let status = from.wait().map_err(|error| format!("sqlite3: {error}"))?;
    // Without its last line nothing is committed.
    if !ended.status.success() || !status.success() {
        return Err("nothing was moved, for the reason above".to_owned());
    }
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}

/// Both ends are closed afterwards.
fn translate(from: Option<ChildStdout>, to: Option<ChildStdin>) -> io::Result<()> {
    let (Some(from), Some(to)) = (from, to) else { return Ok(()) };
    let mut to = BufWriter::new(to);
    for line in BufReader::new(from).split(b'\n') {
        let line = decoded(&line?).ok_or(io::ErrorKind::InvalidData)?;
        to.write_all(&line)?;
        to.write_all(b"\n")?;
    }
    to.flush()
}
