//! Functions of the application, in the database within the compiler: it knows what a migration declares, and not what
//! they compute.
//!
//! A stand-in gives a value of the declared type that depends on its arguments only, so that a migration which calls it
//! runs here, too, and finds two values where the real function most likely gives two. Start reading at [`follow`].

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use skep_sql_lock::directive::at_line;
use skep_sql_lock::function::{Function, ValueType};
use skep_sql_lock::{Directive, Functions};

/// Registers what a migration declares that is about to run, and takes away what it drops; each directive with its
/// line.
///
/// # Errors
/// A function cannot be declared so: a text for the developer.
pub(crate) fn follow(
    functions: &mut Functions,
    connection: &Connection,
    file: &str,
    said: &[(usize, Directive<'_>)],
) -> Result<(), String> {
    for (line, directive) in said {
        if let Directive::DropFunction { name } = directive
            && let Some(known) = functions.get(name)
        {
            let count = count(&known.function);
            connection.remove_function(&*known.function.name, count).map_err(|error| error.to_string())?;
        }
        functions.follow(directive, file, *line).map_err(|help| at_line(*line, &help))?;
        if let Directive::Function(function) = directive {
            register(connection, function).map_err(|help| at_line(*line, &help))?;
        }
    }
    Ok(())
}

/// At most [`MOST_ARGUMENTS`](skep_sql_lock::function::MOST_ARGUMENTS).
fn count(function: &Function) -> i32 {
    i32::try_from(function.arguments.len()).unwrap_or(i32::MAX)
}

fn register(connection: &Connection, function: &Function) -> Result<(), String> {
    let name = &function.name;
    let has = connection.prepare("select 1 from pragma_function_list where lower(name) = ?");
    if has.and_then(|mut has| has.exists([name])).map_err(|error| error.to_string())? {
        return Err(format!("SQLite has a function `{name}` itself: choose another name"));
    }
    let mut flags = FunctionFlags::SQLITE_UTF8;
    flags.set(FunctionFlags::SQLITE_DETERMINISTIC, function.deterministic);
    let stand_in = function.clone();
    connection
        .create_scalar_function(&**name, count(function), flags, move |call| Ok(value(&stand_in, call)))
        .map_err(|error| error.to_string())?;
    let nulls = vec!["null"; function.arguments.len()].join(", ");
    match connection.prepare(&format!("select {name}({nulls})")) {
        Ok(_) => Ok(()),
        Err(_) => Err(format!("`{name}` is a word of SQL, and no call can be written with it: choose another name")),
    }
}

fn value(function: &Function, call: &Context<'_>) -> Value {
    let mut hasher = DefaultHasher::new();
    for (nth, place) in function.arguments.iter().enumerate() {
        match call.get_raw(nth) {
            ValueRef::Null if !place.nullable => return Value::Null,
            ValueRef::Null => 0.hash(&mut hasher),
            ValueRef::Integer(number) => number.hash(&mut hasher),
            ValueRef::Real(number) => number.to_bits().hash(&mut hasher),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.hash(&mut hasher),
        }
    }
    let hash = hasher.finish() >> 32;
    match function.result.ty {
        ValueType::Integer => Value::Integer(hash.cast_signed()),
        #[allow(clippy::cast_precision_loss, reason = "32 bits are left")]
        ValueType::Real => Value::Real(hash as f64),
        ValueType::Text => Value::Text(format!("{}-{hash:x}", function.name)),
        ValueType::Blob => Value::Blob(hash.to_be_bytes().to_vec()),
    }
}

#[cfg(test)]
#[path = "../tests/unit/stand_in.rs"]
mod tests;
