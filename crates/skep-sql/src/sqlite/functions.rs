//! Compares the functions that migrations declare with those that the application gives, and puts them onto
//! connections.
//!
//! Start reading at [`agreed`].

use std::collections::BTreeMap;
use std::fmt::Display;

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use skep_sql_lock::directive::at_line;
#[cfg(feature = "postgres")]
use skep_sql_lock::directive::not_on_postgres;
use skep_sql_lock::function::{SqlType, ValueType};
use skep_sql_lock::{Declared, Dialect, Directive, Functions, directives};
use skep_units::panic::catch;
use smallvec::SmallVec;

use super::failure::failed;
use crate::function::Function;
use crate::migrations::{Step, Steps};
use crate::open_error::Problem;
use crate::sqlite::connection::no_arrays;
use crate::value::Value;

/// A function that is on each connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registered {
    function: Function,
    deterministic: bool,
}

/// The functions that the application gives for what its migrations declare. A component can give none.
pub(crate) fn agreed(steps: &Steps<'_>, guests: bool) -> Result<Vec<Registered>, Problem> {
    let (now, ever) = declared(steps)?;
    if let Some(declared) = now.iter().next().filter(|_| guests) {
        return Err(Problem::Functions(format!(
            "{} of the application, which a component cannot have: its database is its host's, and that calls nothing of the \
             component. Compute the value in the handler that writes it, and store it in a column",
            place(declared)
        )));
    }
    let mut wrong: Vec<String> = now.iter().filter_map(|declared| missing(declared, steps.functions)).collect();
    let mut agreed: Vec<Registered> = Vec::new();
    for function in steps.functions {
        match ever.get(&function.name.to_ascii_lowercase()) {
            None => wrong.push(undeclared(function, &ever)),
            Some(declared) if !is_as_declared(function, declared) => wrong.push(other_types(function, declared)),
            Some(_) if agreed.iter().any(|one| one.function.name.eq_ignore_ascii_case(function.name)) => {
                wrong.push(format!("the application gives two functions of the name `{}`", function.name));
            }
            Some(declared) => {
                agreed.push(Registered { function: *function, deterministic: declared.function.deterministic });
            }
        }
    }
    if wrong.is_empty() { Ok(agreed) } else { Err(Problem::Functions(wrong.join("; "))) }
}

/// What is declared at the end, and the last declaration of each that ever was: an earlier migration may call one that
/// was dropped since.
fn declared(steps: &Steps<'_>) -> Result<(Functions, BTreeMap<String, Declared>), Problem> {
    let (mut now, mut ever) = (Functions::default(), BTreeMap::new());
    for step in &steps.list {
        for (line, directive) in said(Dialect::Sqlite, step)? {
            now.follow(&directive, step.file, line).map_err(|help| wrong(step, at_line(line, &help)))?;
            if let Directive::Function(function) = directive {
                let (name, file) = (function.name.clone(), step.file.to_owned());
                ever.insert(name, Declared { function, file, line });
            }
        }
    }
    Ok((now, ever))
}

/// The names of those that this migration declares. One that is wrong is an error when the database is opened.
pub(crate) fn declared_by(step: &Step<'_>) -> Vec<String> {
    let said = directives(Dialect::Sqlite, step.text).unwrap_or_default();
    let names = said.into_iter().filter_map(|(_, directive)| match directive {
        Directive::Function(function) => Some(function.name),
        _ => None,
    });
    names.collect()
}

/// PostgreSQL has functions of its own only.
#[cfg(feature = "postgres")]
pub(crate) fn refuse(steps: &Steps<'_>) -> Result<(), Problem> {
    for step in &steps.list {
        for (line, directive) in said(Dialect::Postgres, step)? {
            if let Directive::Function(function) = directive {
                return Err(wrong(step, at_line(line, &not_on_postgres(&function))));
            }
        }
    }
    Ok(())
}

fn said<'t>(dialect: Dialect, step: &Step<'t>) -> Result<Vec<(usize, Directive<'t>)>, Problem> {
    directives(dialect, step.text).map_err(|help| wrong(step, help))
}

fn wrong(step: &Step<'_>, reason: String) -> Problem {
    Problem::Declaration { file: step.file.to_owned(), reason }
}

fn is_as_declared(function: &Function, declared: &Declared) -> bool {
    let Declared { function: wanted, .. } = declared;
    function.arguments == wanted.arguments && function.result == wanted.result
}

fn place(declared: &Declared) -> String {
    let Declared { function, file, line } = declared;
    format!("migration {file}, line {line}, declares the function `{function}`")
}

fn missing(declared: &Declared, given: &[Function]) -> Option<String> {
    let is_given = given.iter().any(|function| function.name.eq_ignore_ascii_case(&declared.function.name));
    let text = || {
        format!(
            "{}, and the application does not give it: `migrations!(...).with_functions(&[...])`, with `sql_function!({} {{ ... }})`",
            place(declared),
            in_rust(declared)
        )
    };
    (!is_given).then(text)
}

fn other_types(function: &Function, declared: &Declared) -> String {
    format!("{}, and that of the application is `{function}`: make it `{}`", place(declared), in_rust(declared))
}

fn undeclared(function: &Function, ever: &BTreeMap<String, Declared>) -> String {
    let near = skep_units::nearest(function.name, ever.keys().map(String::as_str));
    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    format!(
        "the application gives the function `{function}`, which no migration declares: say `-- skep: function {function}` in a new one{near}"
    )
}

/// `fn slug(a: &str) -> String`: as the application may write it.
fn in_rust(declared: &Declared) -> String {
    let function = &declared.function;
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let arguments =
        names.iter().zip(&function.arguments).map(|(name, place)| format!("{name}: {}", rust(*place, true)));
    let arguments: Vec<String> = arguments.collect();
    format!("fn {}({}) -> {}", function.name, arguments.join(", "), rust(function.result, false))
}

fn rust(place: SqlType, is_argument: bool) -> String {
    let name = match (place.ty, is_argument) {
        (ValueType::Integer, _) => "i64",
        (ValueType::Real, _) => "f64",
        (ValueType::Text, true) => "&str",
        (ValueType::Text, false) => "String",
        (ValueType::Blob, true) => "&[u8]",
        (ValueType::Blob, false) => "Vec<u8>",
    };
    if place.nullable { format!("Option<{name}>") } else { name.to_owned() }
}

/// SQLite would let a function of the application take the place of its own.
pub(crate) fn register_first(connection: &Connection, functions: &[Registered]) -> Result<(), Problem> {
    for Registered { function, .. } in functions {
        let has = connection.prepare("select 1 from pragma_function_list where lower(name) = lower(?)");
        if has.and_then(|mut has| has.exists([function.name])).map_err(failed)? {
            let text = format!("SQLite has a function `{}` itself: choose another name", function.name);
            return Err(Problem::Functions(text));
        }
    }
    Ok(register(connection, functions).map_err(failed)?)
}

/// Puts them onto a connection.
pub(crate) fn register(connection: &Connection, functions: &[Registered]) -> rusqlite::Result<()> {
    for Registered { function, deterministic } in functions.iter().copied() {
        let mut flags = FunctionFlags::SQLITE_UTF8;
        flags.set(FunctionFlags::SQLITE_DETERMINISTIC, deterministic);
        let count = i32::try_from(function.arguments.len()).unwrap_or(i32::MAX);
        connection.create_scalar_function(function.name, count, flags, move |call| run(&function, call))?;
    }
    Ok(())
}

/// Puts those that are given onto a connection which only looks for damage, whatever is declared.
pub(crate) fn register_given(connection: &Connection, functions: &[Function]) -> rusqlite::Result<()> {
    let all: Vec<_> =
        functions.iter().map(|function| Registered { function: *function, deterministic: true }).collect();
    register(connection, &all)
}

fn run(function: &Function, call: &Context<'_>) -> rusqlite::Result<Given> {
    let failed = |reason: &dyn Display| {
        rusqlite::Error::UserFunctionError(format!("the function `{}`: {reason}", function.name).into())
    };
    let mut values = SmallVec::<[Value<'_>; 4]>::new();
    for (nth, place) in function.arguments.iter().enumerate() {
        let value = match call.get_raw(nth) {
            ValueRef::Null if !place.nullable => return Ok(Given(Value::Null)),
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => Value::Integer(number),
            ValueRef::Real(number) => Value::Real(number),
            ValueRef::Text(bytes) => Value::Text(std::str::from_utf8(bytes).map_err(|error| failed(&error))?.into()),
            ValueRef::Blob(bytes) => Value::Blob(bytes.into()),
        };
        values.push(value);
    }
    let given = catch(|| (function.call)(&values)).map_err(|panicked| failed(&panicked))?;
    given.map(Given).map_err(|reason| failed(&reason))
}

struct Given(Value<'static>);

impl ToSql for Given {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match &self.0 {
            Value::Null => ValueRef::Null,
            Value::Integer(number) => ValueRef::Integer(*number),
            Value::Real(number) => ValueRef::Real(*number),
            Value::Text(text) | Value::Decimal(text) => ValueRef::Text(text.as_bytes()),
            Value::Blob(bytes) => ValueRef::Blob(bytes),
            Value::Array(_) => return Err(no_arrays()),
        }))
    }
}
