//! From the rows of an answer to Rust values.
//!
//! Start reading at [`Row`]. `#[derive(Row)]` writes it for a struct.

#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
pub(super) mod postgres;
#[cfg(target_family = "wasm")]
mod sent;
#[cfg(not(target_family = "wasm"))]
pub(super) mod sqlite;

use super::error::{Error, Kind, Result};
use super::value::{FromValue, Unfit, Value};
#[cfg(all(feature = "postgres", not(target_family = "wasm")))]
use postgres::{Head, Line};
#[cfg(target_family = "wasm")]
pub(super) use sent::{Head, Line, SentRows};
#[cfg(not(any(feature = "postgres", target_family = "wasm")))]
use sqlite::{Head, Line};

/// The names of columns, as an engine has them.
pub(super) trait Named<'a>: Copy + 'a {
    fn count(self) -> usize;
    fn name(self, nth: usize) -> Option<&'a str>;

    fn names(self) -> impl Iterator<Item = &'a str> {
        (0..self.count()).filter_map(move |nth| self.name(nth))
    }
}

/// The values of a row, as an engine has them.
pub(super) trait Valued<'a>: Copy {
    fn value(self, position: usize) -> Result<Value<'a>, Unfit>;

    /// The name of the column.
    fn name(self, position: usize) -> Option<&'a str>;
}

/// A type that one row of an answer becomes.
///
/// Derive it for a struct: each field is read from the column of its name (in any order, ASCII case aside; columns
/// that no field wants are left alone). `#[row(column = "name")]` names another column. A single value that
/// implements [`FromValue`] is a row of one column, a tuple one of as many columns as it has parts.
///
/// Values may be made on another thread, hence `Send`.
///
/// ```
/// use skep_sql::{self as sql, Row, query};
///
/// #[derive(Row)]
/// struct Post {
///     title: String,
///     #[row(column = "body_html")]
///     body: Option<String>,
/// }
///
/// # async fn example(db: &sql::Local) -> sql::Result<()> {
/// let newest: Vec<Post> = db.all("select title, body_html from post order by id desc limit 20").await?;
/// let count: Option<i64> = db.one("select count(*) from post").await?;
/// let pairs: Vec<(i64, String)> = db.all("select id, title from post").await?;
/// # Ok(()) }
/// ```
#[diagnostic::on_unimplemented(
    message = "a row cannot become `{Self}`",
    note = "put `#[derive(Row)]` on it; every field is read from the column of its name"
)]
pub trait Row: Sized + Send + 'static {
    /// Where in the row each field stands.
    type Plan;

    /// Finds the fields' columns: done once for an answer, when its first row is there.
    fn plan(columns: &Columns<'_>) -> Result<Self::Plan>;

    /// Reads one row.
    fn read(cells: &Cells<'_>, plan: &Self::Plan) -> Result<Self>;
}

/// The columns of an answer.
pub struct Columns<'a> {
    head: Head<'a>,
}

impl<'a> Columns<'a> {
    pub(super) fn new(head: impl Into<Head<'a>>) -> Self {
        Self { head: head.into() }
    }

    /// The positions of the columns that have these names; `row` and the fields' names go into the error if a column
    /// is missing or if two have the name.
    pub fn find<const N: usize>(
        &self,
        row: &'static str,
        fields: [(&'static str, &'static str); N],
    ) -> Result<[usize; N]> {
        if self.are(fields) {
            return Ok(std::array::from_fn(|nth| nth));
        }
        let names: Vec<&str> = self.head.names().collect();
        let mut plan = [0; N];
        for (place, (field, column)) in plan.iter_mut().zip(fields) {
            let mut found = (0..names.len()).filter(|&nth| names[nth].eq_ignore_ascii_case(column));
            *place = found.next().ok_or_else(|| Kind::NoColumn { row, field, column, columns: self.names() })?;
            if found.next().is_some() {
                return Err(Kind::TwoColumns { row, field, column }.into());
            }
        }
        Ok(plan)
    }

    /// An error if the answer has another number of columns.
    pub fn expect(&self, wanted: usize) -> Result<()> {
        if self.head.count() == wanted {
            return Ok(());
        }
        Err(Kind::ColumnCount { wanted, columns: self.names() }.into())
    }

    /// True if fields and columns are the same in the same order: the usual case, and several times quicker to see.
    fn are<const N: usize>(&self, fields: [(&'static str, &'static str); N]) -> bool {
        let is = |(nth, (_, column)): (usize, (_, &str))| self.head.name(nth) == Some(column);
        self.head.count() == N && fields.into_iter().enumerate().all(is)
    }

    fn names(&self) -> Vec<String> {
        self.head.names().map(str::to_owned).collect()
    }
}

/// The cells of one row.
pub struct Cells<'a> {
    line: Line<'a>,
}

impl<'a> Cells<'a> {
    pub(super) fn new(line: impl Into<Line<'a>>) -> Self {
        Self { line: line.into() }
    }

    /// The value in this position, counted from 0. One that does not fit `T` is an error that names the column.
    #[inline]
    pub fn get<T: FromValue>(&self, position: usize) -> Result<T> {
        self.line.value(position).and_then(T::from_value).map_err(|reason| self.unfit(position, reason))
    }

    #[cold]
    fn unfit(&self, position: usize, reason: Unfit) -> Error {
        let name = self.line.name(position).map_or_else(|| position.to_string(), str::to_owned);
        Kind::Column { name, reason }.into()
    }
}

/// A text of the database, which may hold bytes that are no text.
#[inline]
pub(super) fn text(bytes: &[u8]) -> Result<&str, Unfit> {
    std::str::from_utf8(bytes).map_err(|_| Unfit::because("the text is not UTF-8"))
}

pub(super) fn no_column() -> Unfit {
    Unfit::because("there is no such column")
}

impl<T: FromValue + Send + 'static> Row for T {
    type Plan = ();

    fn plan(columns: &Columns<'_>) -> Result<()> {
        columns.expect(1)
    }

    #[inline]
    fn read(cells: &Cells<'_>, (): &()) -> Result<Self> {
        cells.get(0)
    }
}

macro_rules! tuples {
    ($count:literal $($name:ident $position:literal),*) => {
        impl<$($name: FromValue + Send + 'static),*> Row for ($($name,)*) {
            type Plan = ();

            fn plan(columns: &Columns<'_>) -> Result<()> {
                columns.expect($count)
            }

            #[inline]
            fn read(cells: &Cells<'_>, (): &()) -> Result<Self> {
                Ok(($(cells.get::<$name>($position)?,)*))
            }
        }
    };
}

tuples!(1 A 0);
tuples!(2 A 0, B 1);
tuples!(3 A 0, B 1, C 2);
tuples!(4 A 0, B 1, C 2, D 3);
tuples!(5 A 0, B 1, C 2, D 3, E 4);
tuples!(6 A 0, B 1, C 2, D 3, E 4, F 5);
tuples!(7 A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuples!(8 A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
tuples!(9 A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
tuples!(10 A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
tuples!(11 A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
tuples!(12 A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);
