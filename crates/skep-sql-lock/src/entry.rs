//! What is known of one statement, and how that is written: a line for each fact.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use crate::scope::{Proof, Reach};

/// What PostgreSQL says of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// As `sql!` has it: with `?` for parameters, and `as "name!"`.
    pub statement: String,
    /// One for each `?`.
    pub parameters: Vec<Parameter>,
    /// Of the answer.
    pub columns: Vec<Column>,
    /// Whose change can alter the answer.
    pub reads: Tables,
    /// What the statement may change.
    pub writes: Tables,
    /// It calls a function that may do more than compute, such as `nextval`.
    pub is_volatile: bool,
    /// Whose rows it reads and writes.
    pub reach: Reach,
}

/// What a `?` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Of the value, or of each in the list.
    pub kind: Kind,
    /// An array, such as `in {list}` becomes.
    pub is_list: bool,
}

/// A column of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// With the `!` of `as "name!"`.
    pub name: String,
    /// What is read: the value, or each element of an array.
    pub kind: Kind,
    /// An array.
    pub is_list: bool,
    /// It may be NULL.
    pub nullable: bool,
    /// No two rows have the same value, NULL aside.
    pub unique: bool,
}

/// What the driver makes of a type of PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `smallint` to `bigint`
    Integer,
    /// `boolean`
    Boolean,
    /// `real`, `double precision`
    Real,
    /// Texts, and what is read as one: UUIDs, XML.
    Text,
    /// `date`, as a text.
    Date,
    /// `time`, as a text.
    Time,
    /// `timestamp`, which has no time zone, as a text.
    DateTime,
    /// `timestamptz`, which is a moment, as a text.
    Timestamp,
    /// `json`, `jsonb`, as a text.
    Json,
    /// `bytea`
    Blob,
    /// `numeric`
    Decimal,
    /// `void`, which is nothing.
    Any,
}

/// By the number of the type, which PostgreSQL never changes. All that the driver of `skep` reads; a test there
/// compares.
const OF_TYPES: [(u32, &str, Kind); 24] = [
    (16, "bool", Kind::Boolean),
    (17, "bytea", Kind::Blob),
    (18, "char", Kind::Text),
    (19, "name", Kind::Text),
    (20, "int8", Kind::Integer),
    (21, "int2", Kind::Integer),
    (23, "int4", Kind::Integer),
    (25, "text", Kind::Text),
    (26, "oid", Kind::Integer),
    (114, "json", Kind::Json),
    (142, "xml", Kind::Text),
    (700, "float4", Kind::Real),
    (701, "float8", Kind::Real),
    (705, "unknown", Kind::Text),
    (1042, "bpchar", Kind::Text),
    (1043, "varchar", Kind::Text),
    (1082, "date", Kind::Date),
    (1083, "time", Kind::Time),
    (1114, "timestamp", Kind::DateTime),
    (1184, "timestamptz", Kind::Timestamp),
    (1700, "numeric", Kind::Decimal),
    (2278, "void", Kind::Any),
    (2950, "uuid", Kind::Text),
    (3802, "jsonb", Kind::Json),
];

const KINDS: [(Kind, &str); 12] = [
    (Kind::Integer, "integer"),
    (Kind::Boolean, "boolean"),
    (Kind::Real, "real"),
    (Kind::Text, "text"),
    (Kind::Date, "date"),
    (Kind::Time, "time"),
    (Kind::DateTime, "datetime"),
    (Kind::Timestamp, "timestamp"),
    (Kind::Json, "json"),
    (Kind::Blob, "blob"),
    (Kind::Decimal, "decimal"),
    (Kind::Any, "any"),
];

/// Tables of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tables {
    /// Which ones cannot be said.
    Any,
    /// These, by name; with the schema where it is not the usual one.
    These(BTreeSet<String>),
}

/// What stands for [`Tables::Any`].
const ANY: &str = "*";

/// What follows the kind of a column that is an array.
const LIST: &str = "[]";

impl Kind {
    /// That of a type of PostgreSQL itself, by its number (OID); `None` if the driver does not read it.
    ///
    /// ```
    /// use skep_sql_lock::Kind;
    ///
    /// assert_eq!(Kind::of_type(23), Some(Kind::Integer));
    /// ```
    #[must_use]
    pub fn of_type(oid: u32) -> Option<Self> {
        OF_TYPES.iter().find(|(known, ..)| *known == oid).map(|(.., kind)| *kind)
    }

    fn named(name: &str) -> Option<Self> {
        KINDS.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(KINDS.iter().find(|(kind, _)| kind == self).map_or("", |(_, name)| name))
    }
}

impl Tables {
    /// None.
    #[must_use]
    pub fn none() -> Self {
        Self::These(BTreeSet::new())
    }

    /// The names; `*` for any.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let (any, these) = match self {
            Self::Any => (Some(ANY), None),
            Self::These(names) => (None, Some(names.iter().map(String::as_str))),
        };
        any.into_iter().chain(these.into_iter().flatten())
    }

    fn add(&mut self, name: String) {
        match self {
            Self::These(names) if name != ANY => _ = names.insert(name),
            _ => *self = Self::Any,
        }
    }
}

impl Entry {
    /// All of it but the line with the hash.
    pub(crate) fn lines(&self) -> String {
        let mut text = String::new();
        for line in self.statement.split('\n') {
            text.push('|');
            if !line.is_empty() {
                text.extend([" ", line]);
            }
            text.push('\n');
        }
        for Parameter { kind, is_list } in &self.parameters {
            _ = writeln!(text, "parameter {kind}{}", if *is_list { " list" } else { "" });
        }
        for Column { name, kind, is_list, nullable, .. } in &self.columns {
            let (list, nullable) = (if *is_list { LIST } else { "" }, if *nullable { "?" } else { "" });
            _ = writeln!(text, "column {kind}{list}{nullable} {}", escaped(name));
        }
        for Column { name, .. } in self.columns.iter().filter(|column| column.unique) {
            _ = writeln!(text, "unique {}", escaped(name));
        }
        for (word, tables) in [("reads", &self.reads), ("writes", &self.writes)] {
            tables.names().for_each(|name| _ = writeln!(text, "{word} {}", escaped(name)));
        }
        if self.is_volatile {
            text.push_str("volatile\n");
        }
        match &self.reach {
            Reach::NoScoped => {}
            Reach::Scoped(proofs) => {
                for Proof { parameter, table, column } in proofs {
                    _ = writeln!(text, "scope {parameter} {} {}", escaped(column), escaped(table));
                }
            }
            Reach::Everybody(why) => _ = writeln!(text, "everybody {}", escaped(why)),
        }
        text
    }

    /// Nothing known yet, to be filled by [`read`](Self::read).
    pub(crate) fn empty() -> Self {
        Self {
            statement: String::new(),
            parameters: Vec::new(),
            columns: Vec::new(),
            reads: Tables::none(),
            writes: Tables::none(),
            is_volatile: false,
            reach: Reach::NoScoped,
        }
    }

    /// Adds what a line says; `None` if it says nothing that is known.
    pub(crate) fn read(&mut self, line: &str, is_first: bool) -> Option<()> {
        if let Some(rest) = line.strip_prefix('|') {
            if !is_first {
                self.statement.push('\n');
            }
            self.statement.push_str(rest.strip_prefix(' ').unwrap_or(rest));
            return Some(());
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "parameter" => {
                let (kind, is_list) = rest.strip_suffix(" list").map_or((rest, false), |kind| (kind, true));
                self.parameters.push(Parameter { kind: Kind::named(kind)?, is_list });
            }
            "column" => {
                let (kind, name) = rest.split_once(' ')?;
                let (kind, nullable) = kind.strip_suffix('?').map_or((kind, false), |kind| (kind, true));
                let (kind, is_list) = kind.strip_suffix(LIST).map_or((kind, false), |kind| (kind, true));
                let (name, kind) = (plain(name), Kind::named(kind)?);
                self.columns.push(Column { name, kind, is_list, nullable, unique: false });
            }
            "unique" => {
                let name = plain(rest);
                self.columns.iter_mut().find(|column| column.name == name)?.unique = true;
            }
            "reads" => self.reads.add(plain(rest)),
            "writes" => self.writes.add(plain(rest)),
            "volatile" if rest.is_empty() => self.is_volatile = true,
            "scope" => {
                let (parameter, names) = rest.split_once(' ')?;
                let (column, table) = names.split_once(' ')?;
                let proof = Proof { parameter: parameter.parse().ok()?, table: plain(table), column: plain(column) };
                match &mut self.reach {
                    Reach::Scoped(proofs) => _ = proofs.insert(proof),
                    reach => *reach = Reach::Scoped([proof].into()),
                }
            }
            "everybody" => self.reach = Reach::Everybody(plain(rest)),
            _ => return None,
        }
        Some(())
    }
}

/// A name may have any character, and a fact one line.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('\n', "\\n")
}

fn plain(name: &str) -> String {
    let parts: Vec<String> = name.split("\\\\").map(|part| part.replace("\\n", "\n")).collect();
    parts.join("\\")
}
