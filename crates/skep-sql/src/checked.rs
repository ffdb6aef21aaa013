//! What `sql!` makes: a statement that was checked while the program was compiled.
//!
//! Start reading at [`sql!`](crate::sql!). A field that a column does not fit is an error of [`ReadFrom`], a parameter
//! that does not fit the column it is compared with one of [`BindTo`]; what they compare is in [`kind`](super::kind).

use std::fmt::Write as _;
use std::marker::PhantomData;

pub use skep_sql_lock::Dialect;

use super::kind::{
    Any, Array, Blob, Date, DateTime, Decimal, Exact, Fixed, Integer, Json, NotNull, Nullable, Real, SqlKind, Text,
    Time, Timestamp,
};
use super::query::{Parameter, Query, Values};
use super::value::{FromValue, Unfit, Value};

/// A statement that [`sql!`](crate::sql!) has checked.
///
/// ```
/// # use skep_sql::Query;
/// fn log(query: &Query) {
///     if let Some(statement) = query.checked() {
///         println!("{} reads {:?}, writes {:?}", statement.text(), statement.reads(), statement.writes());
///     }
/// }
/// ```
// The fields are public for what `sql!` writes: a literal, which the compiler need not evaluate.
#[derive(Debug)]
pub struct Checked {
    #[doc(hidden)]
    pub text: &'static str,
    #[doc(hidden)]
    pub reads: &'static [(&'static str, &'static str)],
    #[doc(hidden)]
    pub writes: &'static [(&'static str, &'static str)],
    #[doc(hidden)]
    pub reads_only: bool,
    #[doc(hidden)]
    pub dialect: Dialect,
}

impl Checked {
    /// The database for which it was checked.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The text as the database is given it, but for PostgreSQL's `$1` instead of `?`.
    #[must_use]
    pub const fn text(&self) -> &'static str {
        self.text
    }

    /// Each table and column whose change can alter the rows of this statement, also through views and subqueries. An
    /// empty column means that only how many rows the table has matters (`count(*)`); on PostgreSQL it is empty always,
    /// and the table `*` stands for all of them.
    #[must_use]
    pub const fn reads(&self) -> &'static [(&'static str, &'static str)] {
        self.reads
    }

    /// Each table and column that this statement may change, also through triggers and cascading foreign keys. An empty
    /// column means that rows are inserted or deleted.
    #[must_use]
    pub const fn writes(&self) -> &'static [(&'static str, &'static str)] {
        self.writes
    }

    /// True if the statement changes nothing.
    #[must_use]
    pub const fn reads_only(&self) -> bool {
        self.reads_only
    }
}

/// A Rust type whose values are of this type in SQLite may stand for a column of type `K`.
#[diagnostic::on_unimplemented(
    message = "this is `{Self}` in the database, and the column is `{K}`",
    note = "change one of the two types, or write `cast(... as ...)` in the statement"
)]
pub trait Holds<K> {}

// A line of types is true of what is read and of what is bound; with the trait's name, of this one alone.
macro_rules! fits {
    ($fits:ident: $ty:ty => $($column:ty),+) => {
        $(#[diagnostic::do_not_recommend] impl $fits<$column> for $ty {})+
    };
    ($($ty:ty => $($column:ty),+;)*) => {$(fits!(Holds: $ty => $($column),+); fits!(BindTo: $ty => $($column),+);)*};
}

fits! {
    Integer => Integer, Any;
    Real => Real, Decimal, Any;
    Text => Text, Date, Time, DateTime, Timestamp, Json, Decimal, Any;
    Date => Date, Text, Any;
    Time => Time, Text, Any;
    DateTime => DateTime, Text, Any;
    Timestamp => Timestamp, Text, Any;
    Json => Json, Text, Any;
    Decimal => Decimal, Any;
    Blob => Blob, Any;
    Any => Integer, Real, Text, Date, Time, DateTime, Timestamp, Json, Blob, Decimal, Any;
}
fits!(Holds: Decimal => Integer, Text);
fits!(BindTo: Integer => Real, Decimal);

macro_rules! fixed {
    ($($held:ident),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<const D: u32, const P: u32> Holds<Fixed<D, P>> for $held {}
        #[diagnostic::do_not_recommend]
        impl<const D: u32, const P: u32> BindTo<Fixed<D, P>> for $held {}
    )*};
}

fixed!(Decimal, Text, Any);

#[diagnostic::do_not_recommend]
impl<const D: u32, const P: u32> BindTo<Fixed<D, P>> for Integer {}

macro_rules! exact {
    ($($column:ident),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<const P: u32> Holds<$column> for Exact<P> {}
        #[diagnostic::do_not_recommend]
        impl<const P: u32> BindTo<$column> for Exact<P> {}
    )*};
}

exact!(Decimal, Any);

#[diagnostic::do_not_recommend]
impl<const D: u32, const P: u32> Holds<Fixed<D, P>> for Exact<P> {}
#[diagnostic::do_not_recommend]
impl<const D: u32, const P: u32> BindTo<Fixed<D, P>> for Exact<P> {}

#[diagnostic::do_not_recommend]
impl<K, H: Holds<K>> Holds<Array<NotNull<K>>> for Array<NotNull<H>> {}
#[diagnostic::do_not_recommend]
impl<K, H: Holds<K>> Holds<Array<NotNull<K>>> for Array<Nullable<H>> {}
#[diagnostic::do_not_recommend]
impl<K, H: Holds<K>> Holds<Array<Nullable<K>>> for Array<Nullable<H>> {}
#[diagnostic::do_not_recommend]
impl<E> Holds<Array<E>> for Any {}

/// A Rust type that a column can be read into: `C` is a type of [`sql`](super), such as `NotNull<Text>`.
#[diagnostic::on_unimplemented(
    message = "the column `{N}` is `{C}`, and cannot be read into `{Self}`",
    label = "this type does not fit the column",
    note = "a column that may be NULL needs an `Option`, `coalesce(column, value)`, or `column as \"name!\"` where you know that it is never NULL",
    note = "a statement of one column gives a value, one of several a struct or a tuple"
)]
pub trait ReadFrom<C, N = ()> {}

#[diagnostic::do_not_recommend]
impl<K, N, T: FromValue> ReadFrom<NotNull<K>, N> for T where T::Sql: Holds<K> {}
#[diagnostic::do_not_recommend]
impl<K, N, T: FromValue> ReadFrom<Nullable<K>, N> for Option<T> where T::Sql: Holds<K> {}
#[diagnostic::do_not_recommend]
impl<K, N> ReadFrom<Nullable<K>, N> for Value<'static> {}

/// A struct with `derive(Row)` each of whose fields is read from the column of its name, so that [`sql!`](crate::sql!)
/// can compare them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the rows of a statement that `sql!` checks",
    note = "put `#[derive(Row)]` on it; with `#[row(column = \"...\")]` on a field, write `{{columns of {Self}}}` in the statement, or `as`"
)]
pub trait ByName: super::row::Row {}

/// A type of SQLite whose values may be compared with, or put into, a column of type `K`.
#[diagnostic::on_unimplemented(
    message = "a parameter that is `{Self}` is compared with, or put into, a column that is `{K}`",
    note = "change one of the two types, or write `cast(? as ...)` in the statement"
)]
pub trait BindTo<K> {}

#[diagnostic::do_not_recommend]
impl<K, B: BindTo<K>> BindTo<Array<Nullable<K>>> for Array<NotNull<B>> {}
#[diagnostic::do_not_recommend]
impl<K, B: BindTo<K>> BindTo<Array<Nullable<K>>> for Array<Nullable<B>> {}
#[diagnostic::do_not_recommend]
impl<E> BindTo<Array<E>> for Any {}

/// A parameter of PostgreSQL for a place of type `K`: the database itself writes it.
#[doc(hidden)]
pub fn sent<'q, K, P: Parameter<'q>>(value: P) -> Result<Value<'q>, Unfit>
where
    P::Sql: BindTo<K>,
{
    value.into_value()
}

/// A parameter of SQLite for a place of type `K`.
#[doc(hidden)]
pub fn parameter<'q, K: SqlKind, P: Parameter<'q>>(value: P) -> Result<Value<'q>, Unfit>
where
    P::Sql: BindTo<K>,
{
    K::fit(value.into_value()?)
}

/// The struct whose fields are parameters, `{values of Post}`: an argument of another type does not compile.
#[doc(hidden)]
pub fn fields_of<T>(row: &T) -> &T {
    row
}

/// The parameter of `in {list}`: a JSON array, which the statement takes apart again.
#[doc(hidden)]
pub fn list<'q, K: SqlKind, P: Parameter<'q>>(values: impl IntoIterator<Item = P>) -> Result<Value<'q>, Unfit>
where
    P::Sql: BindTo<K>,
{
    let mut json = String::from("[");
    for value in values {
        if json.len() > 1 {
            json.push(',');
        }
        match K::fit(value.into_value()?)? {
            Value::Integer(number) => _ = write!(json, "{number}"),
            Value::Real(number) if number.is_finite() => _ = write!(json, "{number:?}"),
            Value::Text(text) | Value::Decimal(text) => {
                let text = serde_json::to_string(&text).map_err(|error| Unfit::because(error.to_string()))?;
                json.push_str(&text);
            }
            Value::Null => return Err(Unfit::because("NULL is in no list; leave it out")),
            Value::Real(_) | Value::Blob(_) | Value::Array(_) => {
                return Err(Unfit::because("a list holds integers, finite numbers or texts"));
            }
        }
    }
    json.push(']');
    Ok(Value::Text(json.into()))
}

/// The parameter of `in {list}` on PostgreSQL: an array, for `= any(?)`.
#[doc(hidden)]
pub fn array<'q, K, P: Parameter<'q>>(values: impl IntoIterator<Item = P>) -> Result<Value<'q>, Unfit>
where
    P::Sql: BindTo<K>,
{
    let elements = values.into_iter().map(|value| match value.into_value()? {
        Value::Null => Err(Unfit::because("NULL is in no list; leave it out")),
        value => Ok(value),
    });
    elements.collect::<Result<_, _>>().map(Value::Array)
}

/// For `skep sql check`, which compiles an application to collect its statements.
#[doc(hidden)]
#[must_use]
pub fn not_checked_yet<T>() -> Query<'static, T> {
    unreachable!("this is compiled, and never run")
}

/// Stands for a column where the compiler compares fields with columns; never called.
#[doc(hidden)]
#[allow(clippy::must_use_candidate, reason = "it is there for its type")]
pub fn column<T: ReadFrom<C, N>, C, N>() -> T {
    unreachable!("only the compiler reads this")
}

/// The rows of a statement that has one column.
#[doc(hidden)]
#[must_use]
pub fn rows_of_one<T: ReadFrom<C, N>, C, N>() -> PhantomData<T> {
    PhantomData
}

/// The rows of a statement, where they are a struct of the application.
#[doc(hidden)]
#[must_use]
pub fn rows_by_name<T: ByName>() -> PhantomData<T> {
    PhantomData
}

impl<'q, T> Query<'q, T> {
    /// For what [`sql!`](crate::sql!) writes: one statement and its parameters.
    #[doc(hidden)]
    #[must_use]
    pub fn from_checked<const N: usize>(
        statement: &'static Checked,
        _rows: PhantomData<T>,
        parameters: [Result<Value<'q>, Unfit>; N],
    ) -> Self {
        Self::of_checked(statement, Values::gather(parameters))
    }

    /// For what [`sql!`](crate::sql!) writes of a statement with conditional parts: each part adds to the number of the
    /// statement, and has its own parameters.
    #[doc(hidden)]
    #[must_use]
    pub fn from_parts<const N: usize>(
        statements: &'static [Checked],
        rows: PhantomData<T>,
        parts: [(usize, Vec<Result<Value<'q>, Unfit>>); N],
    ) -> Self {
        Self::from_parts_and(statements, rows, parts, (0, Vec::new()))
    }

    /// The same, with one part more.
    pub(super) fn from_parts_and<const N: usize>(
        statements: &'static [Checked],
        _rows: PhantomData<T>,
        parts: [(usize, Vec<Result<Value<'q>, Unfit>>); N],
        last: (usize, Vec<Result<Value<'q>, Unfit>>),
    ) -> Self {
        let chosen = parts.iter().map(|(offset, _)| offset).sum::<usize>() + last.0;
        let parameters = parts.into_iter().flat_map(|(_, parameters)| parameters).chain(last.1);
        Self::of_checked(&statements[chosen], Values::gather(parameters))
    }
}
