//! Types of columns that SQLite does not have, as migrations declare them: `-- skep: course.starts is timestamp`.
//!
//! Start reading at [`ColumnType`].

use std::fmt;

use crate::message::listed;

/// What a column of SQLite holds, in a type that it does have.
///
/// ```
/// use skep_sql_lock::ColumnType;
///
/// assert_eq!(ColumnType::of("decimal(10, 2)"), Ok(ColumnType::Decimal { digits: 10, places: 2 }));
/// assert_eq!(ColumnType::Timestamp.stored_as(), "text");
/// assert!(ColumnType::of("money").is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// 0 or 1, an integer.
    Boolean,
    /// A day.
    Date,
    /// A time of day.
    Time,
    /// A day with a time, in no time zone.
    DateTime,
    /// A moment.
    Timestamp,
    /// A decimal number.
    Decimal {
        /// The most digits.
        digits: u32,
        /// The digits behind the point.
        places: u32,
    },
    /// JSON.
    Json,
}

/// The most digits of a decimal number.
const MOST_DIGITS: u32 = 28;

impl ColumnType {
    /// Reads what stands behind the word `is`.
    ///
    /// # Errors
    /// What would be right: a text for the developer.
    pub fn of(text: &str) -> Result<Self, String> {
        Ok(match text.trim().to_ascii_lowercase().as_str() {
            "boolean" => Self::Boolean,
            "date" => Self::Date,
            "time" => Self::Time,
            "datetime" => Self::DateTime,
            "timestamp" => Self::Timestamp,
            "json" => Self::Json,
            other => return decimal(other).ok_or_else(|| unknown(text)),
        })
    }

    /// The type that the table has.
    #[must_use]
    pub const fn stored_as(self) -> &'static str {
        if let Self::Boolean = self { "integer" } else { "text" }
    }
}

fn decimal(text: &str) -> Option<ColumnType> {
    let (digits, places) =
        text.strip_prefix("decimal")?.trim().strip_prefix('(')?.strip_suffix(')')?.split_once(',')?;
    let (digits, places) = (digits.trim().parse().ok()?, places.trim().parse().ok()?);
    (places <= digits && (1..=MOST_DIGITS).contains(&digits)).then_some(ColumnType::Decimal { digits, places })
}

fn unknown(text: &str) -> String {
    let known = ["boolean", "date", "time", "datetime", "timestamp", "decimal(10, 2)", "json"];
    format!("`{text}` is no type of a column: expected {}, with {MOST_DIGITS} digits at most", listed(known))
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => f.write_str("boolean"),
            Self::Date => f.write_str("date"),
            Self::Time => f.write_str("time"),
            Self::DateTime => f.write_str("datetime"),
            Self::Timestamp => f.write_str("timestamp"),
            Self::Decimal { digits, places } => write!(f, "decimal({digits}, {places})"),
            Self::Json => f.write_str("json"),
        }
    }
}
