//! One page of a list: by its number, or by the row that it comes behind (keyset pagination).
//!
//! `sql!` makes a [`PageQuery`] of a statement that ends with `{page 20: number}` or `{keyset 20: cursor}`, the method
//! `page` of a database runs it, and a [`Page`] has the rows and what leads to the pages around it. Each statement asks
//! for one row more than a page has, which says whether another page follows.
//!
//! Start reading at [`Page`].

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, Range};

use super::checked::Checked;
use super::query::Query;
use super::value::{ToValue, Unfit, Value};

/// The most rows that a page may have.
const MOST_ROWS: u32 = 1_000;

/// The rows of a page, and the pages around it. `At` is what a link to a page has: a [`PageNumber`] or a [`Cursor`].
///
/// ```
/// use skep_sql::{Cursor, Database, Row};
/// # macro_rules! sql { ($($input:tt)*) => { skep_sql::sql!(in "../skep/tests/sql/hives"; $($input)*) } }
///
/// #[derive(Row)]
/// struct Hive { id: i64, name: String }
///
/// async fn show(db: &Database, at: Option<Cursor<(String, i64)>>) -> skep_sql::Result<()> {
///     let hives = db.page(sql!(Hive, "select id, name from hive order by name, id" {keyset 20: at})).await?;
///     for hive in &hives {
///         println!("{}: {}", hive.id, hive.name);
///     }
///     if let Some(at) = hives.next {
///         println!("more: {at:?}");
///     }
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Page<T, At> {
    /// In the order of the statement; it is what the page dereferences to.
    pub rows: Vec<T>,
    /// The page before this one, if there is one.
    pub previous: Option<At>,
    /// The page behind this one, if there is one.
    pub next: Option<At>,
}

impl<T, At> Deref for Page<T, At> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.rows
    }
}

impl<'p, T, At> IntoIterator for &'p Page<T, At> {
    type Item = &'p T;
    type IntoIter = std::slice::Iter<'p, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.iter()
    }
}

/// The number of a page, counted from 1, as links have it. There are 10 000 at most, since a database reads all rows
/// before a page to find it; longer lists want a [`Cursor`].
///
/// ```
/// use skep_sql::PageNumber;
///
/// assert_eq!(PageNumber::new(1), Some(PageNumber::FIRST));
/// assert_eq!((PageNumber::new(0), PageNumber::new(10_001)), (None, None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageNumber(u32);

impl PageNumber {
    /// Page 1.
    pub const FIRST: Self = Self(1);

    /// The last one that there may be.
    pub const LAST: Self = Self(10_000);

    /// `None` for 0, and for what is beyond [`LAST`](Self::LAST).
    #[must_use]
    pub const fn new(number: u32) -> Option<Self> {
        if number >= Self::FIRST.0 && number <= Self::LAST.0 { Some(Self(number)) } else { None }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    fn before(self) -> Option<Self> {
        Self::new(self.0 - 1)
    }

    fn behind(self) -> Option<Self> {
        Self::new(self.0 + 1)
    }
}

impl Default for PageNumber {
    fn default() -> Self {
        Self::FIRST
    }
}

impl fmt::Display for PageNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Where a page begins or ends in a list: at a row that has these values in the columns of `order by`, one value or a
/// tuple of up to four. Links have it; without one, the page is the first. An example is at [`Page`].
///
/// A client may change the values in a link, and then begins elsewhere in the same list. What is no value of the
/// columns is the client's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cursor<K> {
    /// The page behind this row.
    After(K),
    /// The page before this row.
    Before(K),
}

/// The message for a client whose cursor only the database finds malformed.
pub(crate) const NO_PLACE: &str = "the cursor is not a place in the list, as its links to other pages have it";

/// What a [`Cursor`] holds: a value of the database, or a tuple of up to four.
pub trait CursorKey: Clone {
    #[doc(hidden)]
    fn to_values(&self) -> Vec<Result<Value<'static>, Unfit>>;
}

impl<T: ToValue + Clone> CursorKey for T {
    fn to_values(&self) -> Vec<Result<Value<'static>, Unfit>> {
        vec![self.to_value().map(Value::into_owned)]
    }
}

macro_rules! tuples {
    ($($($name:ident $value:ident),+;)+) => {$(
        impl<$($name: ToValue + Clone),+> CursorKey for ($($name,)+) {
            fn to_values(&self) -> Vec<Result<Value<'static>, Unfit>> {
                let ($($value,)+) = self;
                vec![$($value.to_value().map(Value::into_owned)),+]
            }
        }
    )+};
}

tuples! {
    A a, B b;
    A a, B b, C c;
    A a, B b, C c, D d;
}

/// A statement for one page of its rows: what [`sql!`](crate::sql!) makes of `{page 20: number}` and
/// `{keyset 20: cursor}`, for the method `page` of a database. An example is at [`Page`].
#[must_use = "a statement does nothing until it is run"]
pub struct PageQuery<'q, T, At> {
    pub(super) query: Query<'q, T>,
    /// Which of its parameters are values of a cursor, from 1.
    pub(super) cursor: Range<usize>,
    /// Makes a page of the rows, the last of which may be one too many.
    pub(super) cut: Box<dyn FnOnce(Vec<T>) -> Page<T, At> + Send + 'q>,
}

/// What each part of a statement adds to its number, and the parameters of the part.
type Parts<'q, const N: usize> = [(usize, Vec<Result<Value<'q>, Unfit>>); N];

impl<'q, T: 'q> PageQuery<'q, T, PageNumber> {
    /// For what [`sql!`](crate::sql!) writes: [`Query::from_parts`], where `limit ? offset ?` is the end.
    #[doc(hidden)]
    pub fn by_number<const N: usize>(
        statements: &'static [Checked],
        rows: PhantomData<T>,
        parts: Parts<'q, N>,
        size: u32,
        at: PageNumber,
    ) -> Self {
        let offset = i64::from(at.get() - 1) * i64::from(size);
        let more = [Ok(limit(size)), Ok(Value::Integer(offset))];
        let cut = move |mut rows: Vec<T>| {
            let is_last = !cut_off(&mut rows, size);
            Page { rows, previous: at.before(), next: at.behind().filter(|_| !is_last) }
        };
        let query = Query::from_parts_and(statements, rows, parts, (0, more.into()));
        Self { query, cursor: 0..0, cut: Box::new(cut) }
    }

    /// For `skep sql check`, which compiles an application to collect its statements.
    #[doc(hidden)]
    pub fn not_checked_yet(_at: PageNumber) -> Self {
        unreachable!("this is compiled, and never run")
    }
}

impl<'q, T: 'q, K: CursorKey + Send + 'q> PageQuery<'q, T, Cursor<K>> {
    /// For what [`sql!`](crate::sql!) writes: [`Query::from_parts`], where three ends are alternatives, `weight` apart.
    #[doc(hidden)]
    pub fn by_key<const N: usize>(
        statements: &'static [Checked],
        rows: PhantomData<T>,
        parts: Parts<'q, N>,
        weight: usize,
        size: u32,
        at: Option<Cursor<K>>,
        key: fn(&T) -> K,
    ) -> Self {
        let (end, mut more) = match &at {
            None => (0, Vec::new()),
            Some(Cursor::After(key)) => (1, key.to_values()),
            Some(Cursor::Before(key)) => (2, key.to_values()),
        };
        let first = 1 + parts.iter().map(|(_, values)| values.len()).sum::<usize>();
        let cursor = first..first + more.len();
        more.push(Ok(limit(size)));
        let cut = move |mut rows: Vec<T>| {
            let goes_on = cut_off(&mut rows, size);
            let (has_previous, has_next) = match at {
                None => (false, goes_on),
                Some(Cursor::After(_)) => (true, goes_on),
                Some(Cursor::Before(_)) => {
                    rows.reverse();
                    (goes_on, true)
                }
            };
            let previous = rows.first().filter(|_| has_previous).map(|row| Cursor::Before(key(row)));
            let next = rows.last().filter(|_| has_next).map(|row| Cursor::After(key(row)));
            Page { rows, previous, next }
        };
        let query = Query::from_parts_and(statements, rows, parts, (end * weight, more));
        Self { query, cursor, cut: Box::new(cut) }
    }

    /// For `skep sql check`, which compiles an application to collect its statements.
    #[doc(hidden)]
    pub fn not_checked_yet(_at: Option<Cursor<K>>) -> Self {
        unreachable!("this is compiled, and never run")
    }
}

/// One row more than the page has.
fn limit(size: u32) -> Value<'static> {
    Value::Integer(i64::from(size) + 1)
}

/// True if there was a row more.
fn cut_off<T>(rows: &mut Vec<T>, size: u32) -> bool {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let goes_on = rows.len() > size;
    rows.truncate(size);
    goes_on
}

/// For what [`sql!`](crate::sql!) writes: how many rows a page has, while the program is compiled.
#[doc(hidden)]
#[must_use]
pub const fn page_size(size: u32) -> u32 {
    assert!(size >= 1 && size <= MOST_ROWS, "a page has 1 to 1000 rows");
    size
}

impl<T, At> fmt::Debug for PageQuery<'_, T, At> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PageQuery").field(&self.query).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_by_number_end_where_numbers_do() {
        assert_eq!((PageNumber::FIRST.before(), PageNumber::LAST.behind()), (None, None));
        assert_eq!(PageNumber::LAST.before(), PageNumber::new(9_999));
    }
}
