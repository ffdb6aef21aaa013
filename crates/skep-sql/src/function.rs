//! Functions of the application, which statements call: declared by a migration, given by
//! [`Migrations::with_functions`].
//!
//! `sql!` knows what is declared, so a database opens only if what is given agrees with it. A function sees its
//! arguments and nothing else. Start reading at [`Function`]; `sqlite/functions.rs` compares, and puts functions onto
//! connections.
//!
//! [`Migrations::with_functions`]: super::Migrations::with_functions

use std::fmt;

use skep_sql_lock::function::{SqlType, ValueType, signature};

use super::value::{FromValue as _, ToValue as _, Unfit, Value};

/// A function of the application for statements of SQLite, made by [`sql_function!`](crate::sql_function!), which has
/// an example.
#[derive(Clone, Copy)]
pub struct Function {
    #[doc(hidden)]
    pub name: &'static str,
    #[doc(hidden)]
    pub arguments: &'static [SqlType],
    #[doc(hidden)]
    pub result: SqlType,
    #[doc(hidden)]
    pub call: for<'a> fn(&'a [Value<'a>]) -> Result<Value<'static>, Unfit>,
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&signature(self.name, self.arguments, self.result))
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({self})")
    }
}

/// A type that a function of the application takes: `i64` and other integers, `bool`, `f64`, `&str`, `String`, `&[u8]`,
/// `Vec<u8>`, and an `Option` of one, where NULL is a value. [`sql_function!`](crate::sql_function!) has an example.
#[diagnostic::on_unimplemented(
    message = "a function of SQL cannot take `{Self}`",
    note = "it takes integers, `bool`, `f64`, `&str`, `String`, `&[u8]`, `Vec<u8>`, and an `Option` of one of these"
)]
pub trait FunctionArgument<'a>: Sized {
    #[doc(hidden)]
    const PLACE: SqlType;

    #[doc(hidden)]
    fn read(value: &'a Value<'a>) -> Result<Self, Unfit>;
}

/// A type that a function of the application gives: `i64` and other integers, `bool`, `f64`, `String`, `&'static str`,
/// `Vec<u8>`, an `Option` of one, which may be NULL, and a `Result` of one of these, whose error has a text.
/// [`sql_function!`](crate::sql_function!) has an example.
#[diagnostic::on_unimplemented(
    message = "a function of SQL cannot give `{Self}`",
    note = "it gives an integer, `bool`, `f64`, `String`, `Vec<u8>`, an `Option` of one of these, or a `Result` whose error can be displayed"
)]
pub trait FunctionResult {
    #[doc(hidden)]
    const PLACE: SqlType;

    #[doc(hidden)]
    fn give(self) -> Result<Value<'static>, Unfit>;
}

const fn of(ty: ValueType) -> SqlType {
    SqlType { ty, nullable: false }
}

macro_rules! owned {
    ($($type:ty => $ty:ident;)*) => {$(
        impl<'a> FunctionArgument<'a> for $type {
            const PLACE: SqlType = of(ValueType::$ty);

            fn read(value: &'a Value<'a>) -> Result<Self, Unfit> {
                Self::from_value(borrowed(value))
            }
        }
    )*};
}

macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl FunctionResult for $type {
            const PLACE: SqlType = of(ValueType::Integer);

            fn give(self) -> Result<Value<'static>, Unfit> {
                self.to_value().map(Value::into_owned)
            }
        }
    )*};
}

owned! {
    i8 => Integer; i16 => Integer; i32 => Integer; i64 => Integer; isize => Integer;
    u8 => Integer; u16 => Integer; u32 => Integer; u64 => Integer; usize => Integer;
    bool => Integer; f64 => Real; String => Text; Vec<u8> => Blob;
}
numbers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool);

fn borrowed<'a>(value: &'a Value<'a>) -> Value<'a> {
    match value {
        Value::Text(text) => Value::Text((**text).into()),
        Value::Decimal(text) => Value::Decimal((**text).into()),
        Value::Blob(bytes) => Value::Blob((**bytes).into()),
        Value::Integer(number) => Value::Integer(*number),
        Value::Real(number) => Value::Real(*number),
        // SQLite has no arrays.
        Value::Null | Value::Array(_) => Value::Null,
    }
}

impl<'a> FunctionArgument<'a> for &'a str {
    const PLACE: SqlType = of(ValueType::Text);

    fn read(value: &'a Value<'a>) -> Result<Self, Unfit> {
        match value {
            Value::Text(text) => Ok(text),
            other => Err(Unfit::expected("text", other)),
        }
    }
}

impl<'a> FunctionArgument<'a> for &'a [u8] {
    const PLACE: SqlType = of(ValueType::Blob);

    fn read(value: &'a Value<'a>) -> Result<Self, Unfit> {
        match value {
            Value::Blob(bytes) => Ok(bytes),
            other => Err(Unfit::expected("a blob", other)),
        }
    }
}

impl<'a, T: FunctionArgument<'a>> FunctionArgument<'a> for Option<T> {
    const PLACE: SqlType = SqlType { nullable: true, ..T::PLACE };

    fn read(value: &'a Value<'a>) -> Result<Self, Unfit> {
        if *value == Value::Null { Ok(None) } else { T::read(value).map(Some) }
    }
}

impl FunctionResult for f64 {
    const PLACE: SqlType = of(ValueType::Real);

    /// SQLite makes NULL of what is no number.
    fn give(self) -> Result<Value<'static>, Unfit> {
        if self.is_nan() {
            Err(Unfit::because("the result is NaN, which SQLite cannot hold"))
        } else {
            Ok(Value::Real(self))
        }
    }
}

impl FunctionResult for String {
    const PLACE: SqlType = of(ValueType::Text);

    fn give(self) -> Result<Value<'static>, Unfit> {
        Ok(Value::Text(self.into()))
    }
}

impl FunctionResult for &'static str {
    const PLACE: SqlType = of(ValueType::Text);

    fn give(self) -> Result<Value<'static>, Unfit> {
        Ok(Value::Text(self.into()))
    }
}

impl FunctionResult for Vec<u8> {
    const PLACE: SqlType = of(ValueType::Blob);

    fn give(self) -> Result<Value<'static>, Unfit> {
        Ok(Value::Blob(self.into()))
    }
}

impl<T: FunctionResult> FunctionResult for Option<T> {
    const PLACE: SqlType = SqlType { nullable: true, ..T::PLACE };

    fn give(self) -> Result<Value<'static>, Unfit> {
        self.map_or(Ok(Value::Null), T::give)
    }
}

impl<T: FunctionResult, E: fmt::Display> FunctionResult for Result<T, E> {
    const PLACE: SqlType = T::PLACE;

    fn give(self) -> Result<Value<'static>, Unfit> {
        self.map_err(|error| Unfit::because(error.to_string()))?.give()
    }
}

/// For what [`sql_function!`](crate::sql_function!) writes: the value for the argument of this name.
#[doc(hidden)]
pub fn argument<'a, T: FunctionArgument<'a>>(value: Option<&'a Value<'a>>, name: &str) -> Result<T, Unfit> {
    let value = value.ok_or_else(|| Unfit::because(format!("the argument `{name}` is missing")))?;
    T::read(value).map_err(|unfit| Unfit::because(format!("the argument `{name}`: {unfit}")))
}

/// Makes a [function](crate::Function) that statements of SQLite call: to search by, to sort by, to fill columns, for
/// an index.
///
/// A migration declares it, in a comment that begins with `skep:`; there [`sql!`](crate::sql!) finds out what it takes
/// and gives:
///
/// ```sql
/// -- skep: function slug(text) text
/// create table post (title text not null) strict;
/// create index post_by_slug on post (slug(title));
/// ```
///
/// ```
/// use std::sync::Arc;
/// use skep_sql::offload::Inline;
/// use skep_sql::{Database, Function, Migrations, migrations, sql, sql_function};
///
/// const SLUG: Function = sql_function!(
///     fn slug(title: &str) -> String {
///         title.to_lowercase().replace(' ', "-")
///     }
/// );
/// // An application names the folder `migrations`, and leaves out `in "..."` below.
/// const MIGRATIONS: Migrations = migrations!("../skep/tests/sql/functions").with_functions(&[SLUG]);
///
/// let database = Database::temporary(&MIGRATIONS, Arc::new(Inline))?;
/// database.write(|db| {
///     db.execute(sql!(in "../skep/tests/sql/functions"; "insert into post (title) values ('On Bees')"))?;
///     let title = sql!(in "../skep/tests/sql/functions"; String, "select title from post where slug(title) = ?", "on-bees");
///     assert_eq!(db.one(title)?.as_deref(), Some("On Bees"));
///     Ok(())
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// | declared | argument | result |
/// |---|---|---|
/// | `integer` | `i64` and other integers, `bool` | the same |
/// | `real` | `f64` | `f64`; NaN is an error |
/// | `text` | `&str`, `String` | `String`, `&'static str` |
/// | `blob` | `&[u8]`, `Vec<u8>` | `Vec<u8>` |
/// | `text?` and so on | `Option` of it | `Option` of it |
///
/// If an argument is NULL that is no `Option`, the function is not called, and the result is NULL. A result may be a
/// `Result`: its error is that of the statement, as is a panic. There are 8 arguments at most.
///
/// The same arguments must always give the same result, unless the declaration says so:
/// `-- skep: function pick(integer) integer not deterministic`. Such a function is in no index and no generated column.
///
/// A function sees its arguments and nothing else. It runs where the statement runs, perhaps on the thread of requests,
/// once for each row: it must be short, and must not wait, lock, or use the database.
#[macro_export]
macro_rules! sql_function {
    ($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty $body:block) => {{
        $(#[$meta])*
        fn $name($($argument: $type),*) -> $result $body

        $crate::Function {
            name: ::core::stringify!($name),
            arguments: &[$(<$type as $crate::FunctionArgument<'_>>::PLACE),*],
            result: <$result as $crate::FunctionResult>::PLACE,
            call: |values| {
                #[allow(unused_mut, unused_variables, reason = "a function may have no arguments")]
                let mut values = values.iter();
                $crate::FunctionResult::give(
                    $name($($crate::argument::<$type>(values.next(), ::core::stringify!($argument))?),*),
                )
            },
        }
    }};
    ($($other:tt)*) => {
        ::core::compile_error!(
            "expected a function with its name, the types of its arguments and that of its result: `fn slug(title: &str) -> String { ... }`"
        )
    };
}
