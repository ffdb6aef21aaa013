//! What is said of a statement holds: on random schemas, with random rows and random selects.
//!
//! - No column that is said not to be NULL is ever NULL, and none is of another type than is said.
//! - No column that is said to be unique has a value twice.
//! - If another value in a column, or another row, changes the answer, the column or the table is among those that are
//!   read.
//!
//! `SQL_CASES=100000 cargo test -p skep-sql-macros soundness` tries as many statements; a failure names its seed.

#[path = "soundness/generate.rs"]
mod generate;

use std::path::PathBuf;

use rusqlite::functions::FunctionFlags;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Statement};

use self::generate::{Random, Tables};
use crate::check::{self, Checked};
use crate::infer::Kind;
use crate::schema::Schema;

/// Statements on one schema.
const ON_ONE_SCHEMA: u64 = 20;

#[test]
fn what_is_said_of_a_statement_holds() {
    let cases = std::env::var("SQL_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2_000);
    let mut told = Told::default();
    let mut seed = 0;
    while told.statements < cases {
        seed += 1;
        one_schema(seed, &mut told);
    }
    println!("{told:?}, schemas: {seed}");
    // A generator of which SQLite refuses most, or an inference that says nothing, would hold as well.
    assert!(told.columns_not_null * 5 > told.columns, "{told:?}");
    assert!(told.columns_of_a_type * 2 > told.columns, "{told:?}");
    assert!(told.columns_unique * 100 > told.columns, "{told:?}");
    assert!(told.changes_seen * 10 > told.statements, "{told:?}");
}

#[derive(Debug, Default)]
struct Told {
    statements: u64,
    refused: u64,
    not_understood: u64,
    columns: u64,
    columns_not_null: u64,
    columns_of_a_type: u64,
    columns_unique: u64,
    rows: u64,
    changes_seen: u64,
}

fn one_schema(seed: u64, told: &mut Told) {
    let mut random = Random::new(seed);
    let tables = Tables::random(&mut random);
    let data = Connection::open_in_memory().unwrap();
    let made = format!("{FUNCTIONS}{}", tables.create());
    register(&data).unwrap();
    // A view may be wrong in a way that only SQLite sees.
    if data.execute_batch(&made).is_err() {
        return;
    }
    for row in tables.rows(&mut random) {
        // Two rows may have one key.
        let _ = data.execute_batch(&row);
    }
    let schema = Schema::of(&[(PathBuf::from("0001.sql"), made.clone())]).unwrap();
    for _ in 0..ON_ONE_SCHEMA {
        let sql = tables.select(&mut random);
        let context = || format!("seed {seed}\n{made}\n{sql}");
        if data.prepare(&sql).is_err() {
            told.refused += 1;
            continue;
        }
        let checked = check::check(&schema, &sql, &[], false).unwrap_or_else(|error| panic!("{error}\n{}", context()));
        // Some fail while they run: an overflow, a pattern that is too long.
        let Some(rows) = rows(&data, &sql) else { continue };
        told.note(&checked, &rows);
        if let Some(wrong) = compare(&checked, &rows) {
            panic!("{wrong}\n{}", context());
        }
        if let Some(wrong) = change(&data, &tables, &checked, &rows, &mut random, told) {
            panic!("{wrong}, and reads {:?}\n{}", checked.reads, context());
        }
    }
}

/// Of the application, as [`register`] makes them.
const FUNCTIONS: &str = "-- skep: function word(text) text
-- skep: function half(integer) real?
-- skep: function either(text?, integer) text
";

/// As the application does it: NULL for an argument that may not be NULL gives NULL, without a call.
fn register(data: &Connection) -> rusqlite::Result<()> {
    data.create_scalar_function("word", 1, FunctionFlags::SQLITE_DETERMINISTIC, |call| upper(call.get_raw(0)))?;
    data.create_scalar_function("half", 1, FunctionFlags::SQLITE_DETERMINISTIC, |call| {
        let number = call.get::<Option<i32>>(0)?;
        Ok(number.filter(|number| number % 2 == 0).map(|number| f64::from(number) / 2.0))
    })?;
    data.create_scalar_function("either", 2, FunctionFlags::SQLITE_DETERMINISTIC, |call| {
        let is_given = call.get_raw(1) != ValueRef::Null;
        Ok(if is_given { Some(upper(call.get_raw(0))?.unwrap_or_default()) } else { None })
    })
}

fn upper(value: ValueRef<'_>) -> rusqlite::Result<Option<String>> {
    Ok(value.as_str_or_null()?.map(str::to_uppercase))
}

impl Told {
    fn note(&mut self, checked: &Checked, rows: &[Vec<Value>]) {
        self.statements += 1;
        self.rows += rows.len() as u64;
        self.columns += checked.columns.len() as u64;
        let count =
            |is: &dyn Fn(&check::Column) -> bool| checked.columns.iter().filter(|column| is(column)).count() as u64;
        self.columns_not_null += count(&|column| !column.ty.nullable);
        self.columns_unique += count(&|column| column.ty.unique);
        self.columns_of_a_type += count(&|column| column.ty.kind != Kind::Any);
        self.not_understood += u64::from(
            !checked.columns.is_empty()
                && count(&|column| column.ty == crate::infer::Type::UNKNOWN) == checked.columns.len() as u64,
        );
    }
}

/// The rows in an order that does not depend on how SQLite finds them.
fn rows(data: &Connection, sql: &str) -> Option<Vec<Vec<Value>>> {
    let mut statement = data.prepare(sql).ok()?;
    let mut rows = read(&mut statement)?;
    rows.sort_by_cached_key(|row| format!("{row:?}"));
    Some(rows)
}

fn read(statement: &mut Statement<'_>) -> Option<Vec<Vec<Value>>> {
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| (0..columns).map(|nth| row.get::<_, Value>(nth)).collect());
    // A recursive one may be without end.
    rows.ok()?.take(200).collect::<rusqlite::Result<Vec<_>>>().ok()
}

/// What a value is that is not as was said.
fn compare(checked: &Checked, rows: &[Vec<Value>]) -> Option<String> {
    for (nth, column) in checked.columns.iter().enumerate().filter(|(_, column)| column.ty.unique) {
        let values: Vec<&Value> = rows.iter().map(|row| &row[nth]).filter(|value| **value != Value::Null).collect();
        if let Some(twice) = values.iter().enumerate().find(|(at, value)| values[..*at].contains(value)) {
            return Some(format!("column {nth} (`{}`) is unique, and has {:?} twice", column.name, twice.1));
        }
    }
    for row in rows {
        assert_eq!(row.len(), checked.columns.len());
        for (nth, (value, column)) in row.iter().zip(&checked.columns).enumerate() {
            let fits = match (value, column.ty.kind) {
                (Value::Null, _) => column.ty.nullable,
                // A field of type `f64` takes an integer.
                (_, Kind::Any)
                | (Value::Real(_) | Value::Integer(_), Kind::Real)
                | (Value::Text(_), Kind::Text)
                | (Value::Blob(_), Kind::Blob) => true,
                // The sum of two integers that overflows: to read it is an error, and no wrong number.
                (Value::Real(number), Kind::Integer) => number.abs() >= 9e18,
                (Value::Integer(number), Kind::Integer) => !column.ty.boolean || matches!(number, 0 | 1),
                _ => false,
            };
            if !fits {
                return Some(format!("column {nth} (`{}`) is {:?}, and has {value:?}", column.name, column.ty));
            }
        }
    }
    None
}

/// Changes a value or removes a row. If that changes the answer, the statement must have said that it reads it.
fn change(
    data: &Connection,
    tables: &Tables,
    checked: &Checked,
    before: &[Vec<Value>],
    random: &mut Random,
    told: &mut Told,
) -> Option<String> {
    for _ in 0..3 {
        let (table, column, change) = tables.change(random);
        data.execute_batch("savepoint change").unwrap();
        let done = data.execute_batch(&change).is_ok();
        let after = rows(data, &checked.sql);
        data.execute_batch("rollback to change; release change").unwrap();
        if !done || after.as_deref() == Some(before) {
            continue;
        }
        told.changes_seen += 1;
        let reads_table = checked.reads.iter().any(|(read, _)| read.eq_ignore_ascii_case(&table));
        let reads_column = |column: &String| {
            checked.reads.iter().any(|(read, of)| read.eq_ignore_ascii_case(&table) && of.eq_ignore_ascii_case(column))
        };
        if !column.as_ref().map_or(reads_table, reads_column) {
            return Some(format!("`{change}` changes the answer"));
        }
    }
    None
}
