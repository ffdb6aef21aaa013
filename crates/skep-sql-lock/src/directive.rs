//! What migrations say to skep in comments that begin with `skep:`.
//!
//! Start reading at [`directives`].

use crate::column_type::ColumnType;
use crate::function::Function;
use crate::manifest::Dialect;
use crate::message::listed;
use crate::text::pieces;

/// What a migration says in a comment. Names are as they are written.
///
/// ```
/// use skep_sql_lock::Directive;
///
/// let said = Directive::of(" skep: token is scoped by user_id").unwrap();
/// assert_eq!(said, Ok(Directive::Scoped { table: "token", column: "user_id" }));
/// assert!(Directive::of(" skep: token is scoped").unwrap().is_err());
/// assert_eq!(Directive::of(" a comment"), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directive<'t> {
    /// `skep: TABLE is scoped by COLUMN`
    Scoped {
        /// The table.
        table: &'t str,
        /// Says whose a row is.
        column: &'t str,
    },
    /// `skep: TABLE is not scoped`
    NotScoped {
        /// The table, which was scoped before.
        table: &'t str,
    },
    /// `skep: function NAME(TYPE, ...) TYPE`
    Function(Function),
    /// `skep: drop function NAME`
    DropFunction {
        /// The function, which was declared before.
        name: &'t str,
    },
    /// `skep: TABLE.COLUMN is TYPE`
    Typed {
        /// The table.
        table: &'t str,
        /// Of the table.
        column: &'t str,
        /// What it holds.
        ty: ColumnType,
    },
}

/// The forms of a directive.
const FORMS: [&str; 5] = [
    "skep: TABLE is scoped by COLUMN",
    "skep: TABLE is not scoped",
    "skep: function NAME(TYPE, ...) TYPE",
    "skep: drop function NAME",
    "skep: TABLE.COLUMN is TYPE",
];

impl<'t> Directive<'t> {
    /// Reads what stands in a comment; `None` if it is not for us.
    ///
    /// # Errors
    /// It is for us and says something else: a text for the developer.
    #[must_use]
    pub fn of(comment: &'t str) -> Option<Result<Self, String>> {
        let said = comment.trim().strip_prefix("skep:")?;
        let words: Vec<&str> = said.split_whitespace().collect();
        let read = match words.as_slice() {
            [table, "is", "scoped", "by", column] => Ok(Self::Scoped { table, column }),
            [table, "is", "not", "scoped"] => Ok(Self::NotScoped { table }),
            ["drop", "function", name] => Ok(Self::DropFunction { name }),
            ["function", ..] => {
                let declared = said.trim_start().strip_prefix("function").unwrap_or_default();
                Function::of(declared).map(Self::Function)
            }
            [name, "is", ty @ ..] if name.contains('.') && !ty.contains(&"scoped") => typed(name, &ty.concat()),
            _ => Err(format!("expected one of {}", listed(FORMS))),
        };
        Some(read.map_err(|help| format!("`skep:{said}`: {help}")))
    }
}

fn typed<'t>(name: &'t str, ty: &str) -> Result<Directive<'t>, String> {
    let (table, column) = name.rsplit_once('.').unwrap_or((name, ""));
    Ok(Directive::Typed { table, column, ty: ColumnType::of(ty)? })
}

/// A migration says of a column what PostgreSQL says itself.
#[must_use]
pub fn typed_on_postgres(column: &str, ty: ColumnType) -> String {
    let own = match ty {
        ColumnType::DateTime => "timestamp".to_owned(),
        ColumnType::Timestamp => "timestamptz".to_owned(),
        ColumnType::Json => "jsonb".to_owned(),
        ColumnType::Decimal { digits, places } => format!("numeric({digits}, {places})"),
        other => other.to_string(),
    };
    format!("`{column}`: PostgreSQL has this type; write `{column} {own}` in the table, and leave out this comment")
}

/// A migration says of a function of the application what PostgreSQL cannot have.
#[must_use]
pub fn not_on_postgres(function: &Function) -> String {
    format!(
        "`{function}`: PostgreSQL cannot call functions of the application; make one in the migration, with \
         `create function {}(...) ... language sql` or another of its languages, and leave out this comment",
        function.name
    )
}

/// What a migration for this database says, in its order, each with the number of its line.
///
/// ```
/// use skep_sql_lock::{Dialect, Directive, directives};
///
/// let text = "-- for the forge\n-- skep: token is scoped by user_id\nselect '-- skep: none'";
/// assert_eq!(directives(Dialect::Postgres, text), Ok(vec![(2, Directive::Scoped { table: "token", column: "user_id" })]));
/// ```
///
/// # Errors
/// The first comment that is for us and says something else, and its line: a text for the developer.
pub fn directives(dialect: Dialect, migration: &str) -> Result<Vec<(usize, Directive<'_>)>, String> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = migration[at..].chars().next() {
        let rest = &migration[at..];
        let length = match dialect {
            Dialect::Sqlite => quoted(rest).unwrap_or(first.len_utf8()),
            Dialect::Postgres => pieces(rest).next().map_or(first.len_utf8(), |piece| piece.length()),
        };
        if let Some(directive) = comment(&rest[..length]).and_then(Directive::of) {
            let line = migration[..at].matches('\n').count() + 1;
            found.push((line, directive.map_err(|help| at_line(line, &help))?));
        }
        at += length;
    }
    Ok(found)
}

/// What is said of a line.
#[must_use]
pub fn at_line(line: usize, help: &str) -> String {
    format!("line {line}: {help}")
}

fn comment(piece: &str) -> Option<&str> {
    let block = || piece.strip_prefix("/*").map(|inner| inner.strip_suffix("*/").unwrap_or(inner));
    piece.strip_prefix("--").or_else(block)
}

/// The length of the comment, text or quoted name that this text of SQLite begins with.
#[must_use]
pub fn quoted(text: &str) -> Option<usize> {
    let until = |end: &str, from: usize| text[from..].find(end).map_or(text.len(), |at| from + at + end.len());
    match text.as_bytes() {
        [b'-', b'-', ..] => Some(until("\n", 2)),
        [b'/', b'*', ..] => Some(until("*/", 2)),
        [b'[', ..] => Some(until("]", 1)),
        [b'\'', ..] => Some(until("'", 1)),
        [b'"', ..] => Some(until("\"", 1)),
        [b'`', ..] => Some(until("`", 1)),
        _ => None,
    }
}
