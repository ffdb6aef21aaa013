//! A statement and what is put in place of its `?`.

use std::fmt;
use std::marker::PhantomData;

use super::checked::{Checked, Dialect};
use super::error::Kind;
use super::kind::{Any, Blob, Integer, Real, Text};
use super::value::{Element, ToValue, Unfit, Value};

/// A statement with its parameters, whose answer is read as rows of type `T`.
///
/// Made by [`query`], or from a text that has no parameters:
///
/// ```
/// # use skep_sql::{self as sql, query};
/// # async fn example(db: &skep_sql::Local, slug: &str) -> sql::Result<()> {
/// let posts = db.one::<i64>("select count(*) from post").await?;
/// let title = db.one::<String>(query("select title from post where slug = ?", slug)).await?;
/// # Ok(()) }
/// ```
///
/// The verbs of [`Local`](super::Local), [`Transaction`](super::Transaction) and [`Blocking`](super::Blocking) take
/// `impl Into<Query<T>>`. A checked statement that knows its rows (`sql!`) is a `Query` of exactly one `T`; one from
/// a text fits whichever `T` the caller asks for.
pub struct Query<'q, T = ()> {
    text: &'q str,
    parameters: Result<Vec<Value<'q>>, Refused>,
    /// What is known of the statement since the program was compiled.
    checked: Option<&'static Checked>,
    /// It concerns tables of the framework only, of which no page is made.
    is_own: bool,
    rows: PhantomData<fn() -> T>,
}

/// A parameter that SQLite cannot hold. Reported when the query is run, so that making one cannot fail.
#[derive(Debug)]
pub(super) struct Refused {
    /// Counted from 1, as SQLite counts them.
    pub(super) index: usize,
    pub(super) reason: Unfit,
}

/// A statement and its parameters: one value, a reference, a tuple of up to twelve, an array, or [`values`].
///
/// ```
/// # use skep_sql::{Query, query};
/// # let (slug, tag) = ("hello", Some("web"));
/// # let _: Query =
/// query("select title from post where slug = ?", slug);
/// # let _: Query =
/// query("select title from post where tag = ? limit ? offset ?", (&tag, 20, 40));
/// ```
pub fn query<'q, T>(text: &'q str, parameters: impl Parameters<'q>) -> Query<'q, T> {
    Query { text, parameters: parameters.collect().0, checked: None, is_own: false, rows: PhantomData }
}

/// As many parameters as the iterator has, for a statement whose number of `?` is known at run time only.
///
/// ```
/// # use skep_sql::{Query, query, values};
/// let ids = [3, 5, 8];
/// let marks = vec!["?"; ids.len()].join(", ");
/// let text = format!("select title from post where id in ({marks})");
/// let by_id: Query = query(&text, values(&ids));
/// ```
pub fn values<'q, P: Parameter<'q>>(list: impl IntoIterator<Item = P>) -> Values<'q> {
    collect(list.into_iter().map(Parameter::into_value))
}

/// Parameters, ready to be given to a statement.
pub struct Values<'q>(Result<Vec<Value<'q>>, Refused>);

impl<'q> Values<'q> {
    pub(super) fn gather(list: impl IntoIterator<Item = Result<Value<'q>, Unfit>>) -> Self {
        collect(list)
    }
}

impl<'q, T> Query<'q, T> {
    /// The text of the statement.
    #[must_use]
    pub fn text(&self) -> &'q str {
        self.text
    }

    /// What [`sql!`](crate::sql!) knows of the statement; `None` for one from a text.
    #[must_use]
    pub fn checked(&self) -> Option<&'static Checked> {
        self.checked
    }

    /// Says that the statement concerns tables of the framework only: it invalidates no page.
    #[doc(hidden)]
    #[must_use]
    pub fn own(self) -> Self {
        Self { is_own: true, ..self }
    }

    pub(super) fn is_own(&self) -> bool {
        self.is_own
    }

    pub(super) fn of_checked(statement: &'static Checked, parameters: Values<'q>) -> Self {
        let (text, parameters) = (statement.text(), parameters.0);
        Self { text, parameters, checked: Some(statement), is_own: false, rows: PhantomData }
    }

    /// The parameters, for a database that speaks so; or which of them SQLite cannot hold, or that the statement is for
    /// another.
    pub(super) fn into_values(self, dialect: Dialect) -> super::Result<Vec<Value<'q>>> {
        if let Some(checked) = self.checked.filter(|checked| checked.dialect() != dialect) {
            return Err(super::Error::from(Kind::CheckedForOther(checked.dialect())).of(self.text));
        }
        self.parameters.map_err(|refused| super::Error::from(Kind::Parameter(refused)).of(self.text))
    }
}

impl<'q, T> From<&'q str> for Query<'q, T> {
    fn from(text: &'q str) -> Self {
        Self { text, parameters: Ok(Vec::new()), checked: None, is_own: false, rows: PhantomData }
    }
}

impl<'q, T> From<&'q String> for Query<'q, T> {
    fn from(text: &'q String) -> Self {
        text.as_str().into()
    }
}

impl<T> fmt::Debug for Query<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Parameters may be passwords; a text never has one.
        f.debug_struct("Query").field("text", &self.text).finish_non_exhaustive()
    }
}

/// One parameter: a number, a `bool`, a text or bytes by value, an [`Option`] of them, or a reference to any
/// [`ToValue`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a statement",
    note = "a type that implements `ToValue` is given by reference: `&value`",
    note = "an array of PostgreSQL is given as a `Vec` or as a slice: `&list[..]`",
    note = "several parameters are given as a tuple: `(a, &b)`"
)]
pub trait Parameter<'q> {
    /// What the value is in SQLite: [`sql!`](crate::sql!) compares it with the column that the parameter belongs to.
    type Sql;

    /// The value that SQLite is given.
    fn into_value(self) -> Result<Value<'q>, Unfit>;
}

impl<'q, T: ToValue + ?Sized> Parameter<'q> for &'q T {
    type Sql = T::Sql;

    fn into_value(self) -> Result<Value<'q>, Unfit> {
        self.to_value()
    }
}

impl<'q, P: Parameter<'q>> Parameter<'q> for Option<P> {
    type Sql = P::Sql;

    fn into_value(self) -> Result<Value<'q>, Unfit> {
        self.map_or(Ok(Value::Null), Parameter::into_value)
    }
}

impl<'q> Parameter<'q> for Value<'q> {
    type Sql = Any;

    fn into_value(self) -> Result<Value<'q>, Unfit> {
        Ok(self)
    }
}

impl<'q> Parameter<'q> for String {
    type Sql = Text;

    fn into_value(self) -> Result<Value<'q>, Unfit> {
        Ok(Value::Text(self.into()))
    }
}

impl<'q, T: ToValue + Element> Parameter<'q> for Vec<T> {
    type Sql = <Self as ToValue>::Sql;

    fn into_value(self) -> Result<Value<'q>, Unfit> {
        self.to_value().map(Value::into_owned)
    }
}

impl<'q> Parameter<'q> for Vec<u8> {
    type Sql = Blob;

    fn into_value(self) -> Result<Value<'q>, Unfit> {
        Ok(Value::Blob(self.into()))
    }
}

macro_rules! by_value {
    ($($name:ident => $sql:ident),*) => {$(
        impl<'q> Parameter<'q> for $name {
            type Sql = $sql;

            fn into_value(self) -> Result<Value<'q>, Unfit> {
                self.to_value().map(Value::into_owned)
            }
        }
    )*};
}

by_value! {
    bool => Integer, f64 => Real, i8 => Integer, i16 => Integer, i32 => Integer, i64 => Integer, isize => Integer,
    u8 => Integer, u16 => Integer, u32 => Integer, u64 => Integer, usize => Integer
}

/// All parameters of a statement; see [`query`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the parameters of a statement",
    note = "a type that implements `ToValue` is given by reference: `&value`",
    note = "several parameters are given as a tuple: `(a, &b)`; any number of them by `values(list)`"
)]
pub trait Parameters<'q> {
    /// The values, in the order of the `?` they stand for.
    fn collect(self) -> Values<'q>;
}

impl<'q> Parameters<'q> for Values<'q> {
    fn collect(self) -> Values<'q> {
        self
    }
}

impl<'q, P: Parameter<'q>> Parameters<'q> for P {
    fn collect(self) -> Values<'q> {
        collect([self.into_value()])
    }
}

impl<'q, P: Parameter<'q>, const N: usize> Parameters<'q> for [P; N] {
    fn collect(self) -> Values<'q> {
        values(self)
    }
}

impl<'q> Parameters<'q> for () {
    fn collect(self) -> Values<'q> {
        Values(Ok(Vec::new()))
    }
}

macro_rules! tuples {
    ($first:ident $($name:ident)*) => {
        tuples!(@ [] $first $($name)*);
    };
    (@ [$($done:ident)*]) => {};
    (@ [$($done:ident)*] $next:ident $($rest:ident)*) => {
        tuples!(@ [$($done)* $next] => $($rest)*);
    };
    (@ [$($name:ident)*] => $($rest:ident)*) => {
        impl<'q, $($name: Parameter<'q>),*> Parameters<'q> for ($($name,)*) {
            #[allow(non_snake_case, reason = "a type parameter names its value too")]
            fn collect(self) -> Values<'q> {
                let ($($name,)*) = self;
                collect([$($name.into_value()),*])
            }
        }
        tuples!(@ [$($name)*] $($rest)*);
    };
}

tuples!(A B C D E F G H I J K L);

fn collect<'q>(list: impl IntoIterator<Item = Result<Value<'q>, Unfit>>) -> Values<'q> {
    let list = list.into_iter();
    let mut all = Vec::with_capacity(list.size_hint().0);
    for value in list {
        match value {
            Ok(value) => all.push(value),
            Err(reason) => return Values(Err(Refused { index: all.len() + 1, reason })),
        }
    }
    Values(Ok(all))
}
