//! What `sqlite3` runs, and prints for `psql`.

use std::fmt::Write as _;

use super::tables::{Column, Schema, Table};
use super::{COMMITTED, quoted, text};

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

    /// The rows of a table, and a check that all have arrived.
    fn copy(&mut self, from: &Table, to: &Table) {
        let columns = from.columns.iter().filter_map(|column| Some((column, to.column(&column.name)?)));
        let (values, names): (Vec<String>, Vec<String>) =
            columns.map(|(from, to)| (copied(&quoted(&from.name), to), quoted(&to.name))).unzip();
        self.say(&format!("copy {} ({}) from stdin with (delimiter '|');", quoted(&to.name), names.join(", ")));
        self.print(&values.join(" || '|' || "), &format!("from {}", quoted(&from.name)));
        self.say("\\.");
        let (before, after) = (
            text(&format!("do $skep$ begin if (select count(*) from {}) <> ", quoted(&to.name))),
            text(&format!(
                " then raise exception 'not all rows of % have arrived', {}; end if; end $skep$;",
                text(&to.name)
            )),
        );
        self.print(&format!("{before} || (select count(*) from {}) || {after}", quoted(&from.name)), "");
        self.say(&format!("select {}, count(*) from {};", text(&to.name), quoted(&to.name)));
    }

    /// Numbers go on behind the last one.
    fn go_on(&mut self, from: &Table, to: &Table) {
        for Column { name, sequence, .. } in to.columns.iter().filter(|column| !column.sequence.is_empty()) {
            let last = format!("greatest((select max({}) from {}), {})", quoted(name), quoted(&to.name), from.last);
            // The result is of no interest, and `psql` would print it.
            self.say(&format!(
                "with last as (select {last} as n) select from last where n > 0 and setval({}, n) is null;",
                text(sequence)
            ));
        }
    }
}

/// All of it. `full`: the tables whose rows are deleted before.
pub(super) fn script(pairs: &[(&Table, &Table)], schema: &Schema, full: &[String]) -> String {
    let mut script = Script("begin;\n".to_owned());
    let is_moved = |name: &String| pairs.iter().any(|(_, to)| to.name == *name);
    let keys = || schema.keys.iter().filter(|[table, _]| is_moved(table));
    let triggers = || schema.triggers.iter().filter(|[table, ..]| is_moved(table));
    // Whatever the settings of a user or of a database say: times of SQLite are UTC.
    script.say("set client_encoding = 'UTF8'; set timezone = 'UTC'; set datestyle = 'ISO, YMD';");
    script.say("begin;");
    // Rows are copied as they are: triggers have had their effect.
    for [table, trigger, _] in triggers() {
        script.say(&format!("alter table {} disable trigger {};", quoted(table), quoted(trigger)));
    }
    for [table, key] in keys() {
        let (table, key) = (quoted(table), quoted(key));
        script.say(&format!("alter table {table} alter constraint {key} deferrable initially deferred;"));
    }
    script.say("set constraints all deferred;");
    for table in full {
        script.say(&format!("delete from {};", quoted(table)));
    }
    for (from, to) in pairs {
        script.copy(from, to);
        script.go_on(from, to);
    }
    script.say("set constraints all immediate;");
    for [table, key] in keys() {
        script.say(&format!("alter table {} alter constraint {} not deferrable;", quoted(table), quoted(key)));
    }
    for [table, trigger, enabled] in triggers() {
        let how = match &**enabled {
            "A" => "enable always",
            "R" => "enable replica",
            _ => "enable",
        };
        script.say(&format!("alter table {} {how} trigger {};", quoted(table), quoted(trigger)));
    }
    for view in &schema.views {
        script.say(&format!("refresh materialized view {};", quoted(view)));
    }
    script.say("commit;");
    script.say(&format!("select '{COMMITTED}';"));
    script.0
}

/// A column as `copy` reads it (PostgreSQL, COPY, text format).
fn copied(column: &str, to: &Column) -> String {
    // The backslash comes first.
    let escapes = [(92, "\\\\"), (124, "\\|"), (10, "\\n"), (13, "\\r")];
    let escape = |value: String, (code, with)| format!("replace({value}, char({code}), '{with}')");
    let plain = escapes.into_iter().fold(column.to_owned(), escape);
    let bytes = format!("'\\\\x' || hex({column})");
    let (blob, other) = match &*to.kind {
        "bytea" => (bytes.clone(), bytes),
        "uuid" => (format!("hex({column})"), plain),
        _ => (bytes, plain),
    };
    // As few digits as give the same number again.
    let exact = ["%!.15g", "%!.17g"].map(|format| {
        format!("when cast(printf('{format}', {column}) as real) = {column} then printf('{format}', {column})")
    });
    let real = format!("case {} else printf('%!.20e', {column}) end", exact.join(" "));
    format!(
        "case typeof({column}) when 'null' then '\\N' when 'integer' then {column} when 'real' then {real}
         when 'blob' then {blob} else {other} end"
    )
}
