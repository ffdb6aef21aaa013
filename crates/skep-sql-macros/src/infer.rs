//! What SQLite does not say of a statement: which of its columns are never NULL, of which type they are, and what its
//! parameters are compared with.
//!
//! Everything here is conservative: what is not understood is [`Type::UNKNOWN`]. The statement itself was judged by
//! SQLite before. The property test in `tests/unit/soundness.rs` compares what is claimed here with what SQLite
//! answers.
//!
//! Start reading at [`infer`].

mod aggregate;
mod expression;
pub(crate) mod fixed;
mod function;
pub(crate) mod scope;
mod select;
mod statement;

use std::rc::Rc;

use skep_sql_lock::function::ValueType;
use sqlite3_parser::Bump;
use sqlite3_parser::FallibleIterator as _;
use sqlite3_parser::ast::Cmd;
use sqlite3_parser::lexer::sql::Parser;

use crate::schema::{Schema, Table};

/// The storage class of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer,
    Real,
    Text,
    /// A text that says a day, as are the next ones of a time, of both, of a moment, and JSON.
    Date,
    Time,
    DateTime,
    Timestamp,
    Json,
    Blob,
    /// A `numeric` of PostgreSQL.
    Decimal,
    /// A decimal number of SQLite, which is a text.
    Fixed {
        digits: u32,
        places: u32,
    },
    /// Any of them.
    Any,
    /// Of the literal `null`: nothing but NULL.
    Null,
}

impl Kind {
    /// That of a column with this declared type: <https://sqlite.org/datatype3.html>, 3.1. In a table that is not
    /// strict, SQLite stores other values too.
    pub(crate) fn declared(declared: &str) -> Self {
        let declared = declared.to_ascii_uppercase();
        let has = |part: &str| declared.contains(part);
        if has("INT") {
            Self::Integer
        } else if has("CHAR") || has("CLOB") || has("TEXT") {
            Self::Text
        } else if has("BLOB") {
            Self::Blob
        } else if has("REAL") || has("FLOA") || has("DOUB") {
            Self::Real
        } else {
            Self::Any
        }
    }

    /// Of its type in `sql::kind`: the variants have these names.
    pub(crate) fn name(self) -> String {
        format!("{:?}", if self == Self::Null { Self::Any } else { self })
    }

    /// That of what a function of the application takes or gives.
    fn of_function(ty: ValueType) -> Self {
        match ty {
            ValueType::Integer => Self::Integer,
            ValueType::Real => Self::Real,
            ValueType::Text => Self::Text,
            ValueType::Blob => Self::Blob,
        }
    }

    fn join(self, other: Self) -> Self {
        match (self, other) {
            (one, Self::Null) | (Self::Null, one) => one,
            (one, other) if one == other => one,
            (one, other) if one.is_text() && other.is_text() => Self::Text,
            _ => Self::Any,
        }
    }

    /// Is it stored as a text in SQLite?
    pub(crate) fn is_text(self) -> bool {
        !matches!(self, Self::Integer | Self::Real | Self::Blob | Self::Decimal | Self::Any | Self::Null)
    }
}

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "they are facts that do not depend on each other")]
pub(crate) struct Type {
    pub(crate) kind: Kind,
    pub(crate) nullable: bool,
    /// An integer that is 0 or 1.
    pub(crate) boolean: bool,
    /// No two rows have the same value, where it may not be NULL.
    pub(crate) unique: bool,
    /// An array of such values, of which each may be NULL. SQLite has none.
    pub(crate) is_list: bool,
}

impl Type {
    pub(crate) const UNKNOWN: Self =
        Self { kind: Kind::Any, nullable: true, boolean: false, unique: false, is_list: false };
    const BOOLEAN: Self = Self { kind: Kind::Integer, nullable: false, boolean: true, unique: false, is_list: false };

    pub(crate) const fn of(kind: Kind) -> Self {
        Self { kind, nullable: false, boolean: false, unique: false, is_list: false }
    }

    fn nullable(self) -> Self {
        Self { nullable: true, ..self }
    }

    fn nullable_if(self, nullable: bool) -> Self {
        Self { nullable: self.nullable || nullable, ..self }
    }

    fn repeated(self) -> Self {
        Self { unique: false, ..self }
    }

    /// Of a value that is one of the two.
    pub(crate) fn join(self, other: Self) -> Self {
        let boolean = match (self.kind, other.kind) {
            (Kind::Null, _) => other.boolean,
            (_, Kind::Null) => self.boolean,
            _ => self.boolean && other.boolean,
        };
        let is_list = self.is_list && other.is_list;
        let kind = if self.is_list == other.is_list { self.kind.join(other.kind) } else { Kind::Any };
        Self { kind, nullable: self.nullable || other.nullable, boolean, unique: false, is_list }
    }
}

/// The columns of a select or a table, `None` if they are not known.
type Columns = Option<Rc<[(String, Type)]>>;

/// What was found out.
pub(crate) struct Inferred {
    /// One for each column of the answer; `None` if they could not be counted.
    pub(crate) columns: Option<Vec<Type>>,
    /// One for each parameter: what it is compared with.
    pub(crate) parameters: Vec<Kind>,
    /// Tables of which SQLite may read columns that it does not report: those of `natural` and `using`.
    pub(crate) joined_by_name: bool,
    /// Tables of which rows are read.
    pub(crate) tables: Vec<String>,
    /// `*` is among the columns of the answer.
    pub(crate) has_star: bool,
    /// A function of the application surely gets a value of another type than it takes: a text for the developer.
    pub(crate) complaint: Option<String>,
}

/// What a statement says. In `text` each parameter has its number: `?1`, `?2`; those in `lists` are of `in {list}`.
pub(crate) fn infer(schema: &Schema, text: &str, parameters: usize, lists: &[usize]) -> Inferred {
    let mut inference = Inference {
        schema,
        lists,
        parameters: vec![Kind::Any; parameters],
        joined_by_name: false,
        tables: Vec::new(),
        complaint: None,
        depth: 0,
    };
    let mut has_star = false;
    let columns = parse(text, |cmd| {
        has_star = statement::has_star(cmd);
        inference.command(cmd)
    });
    let columns = columns.flatten();
    let columns = columns.map(|columns| columns.iter().map(|(_, ty)| *ty).collect());
    let Inference { parameters, joined_by_name, tables, complaint, .. } = inference;
    Inferred { columns, parameters, joined_by_name, tables, has_star, complaint }
}

/// Calls `read` with the syntax of the statement. `None` if the parser does not know it.
fn parse<R>(text: &str, read: impl FnOnce(&Cmd<'_>) -> R) -> Option<R> {
    let bump = Bump::new();
    let mut parser = Parser::new(&bump, text.as_bytes());
    parser.next().ok().flatten().as_ref().map(read)
}

struct Inference<'a> {
    schema: &'a Schema,
    lists: &'a [usize],
    parameters: Vec<Kind>,
    joined_by_name: bool,
    tables: Vec<String>,
    complaint: Option<String>,
    /// Views within views.
    depth: usize,
}

/// A name as SQLite compares it: without quotes, in lower case.
pub(crate) fn folded(name: &str) -> String {
    unquoted(name).to_ascii_lowercase()
}

/// A name without quotes.
fn unquoted(name: &str) -> String {
    let quotes = match name.as_bytes().first() {
        Some(b'"') => Some(("\"", "\"\"")),
        Some(b'`') => Some(("`", "``")),
        Some(b'\'') => Some(("'", "''")),
        Some(b'[') => return name.trim_matches(['[', ']']).to_owned(),
        _ => None,
    };
    match quotes {
        Some((quote, twice)) if name.len() >= 2 => name[1..name.len() - 1].replace(twice, quote),
        _ => name.to_owned(),
    }
}

impl Table {
    fn types(&self) -> Rc<[(String, Type)]> {
        self.columns.iter().map(|column| (column.name.to_ascii_lowercase(), column.ty)).collect()
    }
}
