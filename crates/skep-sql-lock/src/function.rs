//! Functions of an application that its migrations declare for SQLite: `-- skep: function slug(text) text`.
//!
//! `sql!` registers a stand-in for each while it compiles statements, and an application that starts compares them with
//! what it gives. Nothing here talks to a database. Start reading at [`Function`].

use std::fmt;

use crate::message::listed;

/// The most arguments that a function may have.
pub const MOST_ARGUMENTS: usize = 8;

/// What a correct declaration looks like.
const EXAMPLE: &str = "`skep: function slug(text) text`";

/// The type of a value, as in a table that is `strict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// `integer`
    Integer,
    /// `real`
    Real,
    /// `text`
    Text,
    /// `blob`
    Blob,
}

/// What an argument takes, or a function gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqlType {
    /// The type of its values.
    pub ty: ValueType,
    /// NULL is one of its values: `text?`. An argument that is not nullable makes the call NULL where it gets NULL.
    pub nullable: bool,
}

/// A function as it is declared.
///
/// ```
/// use skep_sql_lock::function::{Function, ValueType};
///
/// let function = Function::of("slug(text, integer?) text").unwrap();
/// assert_eq!(function.result.ty, ValueType::Text);
/// assert!(function.arguments[1].nullable && function.deterministic);
/// assert_eq!(function.to_string(), "slug(text, integer?) text");
/// assert!(Function::of("slug(string) text").unwrap_err().contains("write `text`"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// In lower case.
    pub name: String,
    /// In order.
    pub arguments: Vec<SqlType>,
    /// What it gives.
    pub result: SqlType,
    /// The same arguments always give the same result.
    pub deterministic: bool,
}

impl ValueType {
    const ALL: [Self; 4] = [Self::Integer, Self::Real, Self::Text, Self::Blob];

    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Real => "real",
            Self::Text => "text",
            Self::Blob => "blob",
        }
    }

    fn of(word: &str) -> Result<Self, String> {
        let lower = word.to_ascii_lowercase();
        if let Some(known) = Self::ALL.into_iter().find(|known| known.name() == lower) {
            return Ok(known);
        }
        let meant = match lower.as_str() {
            "int" | "bigint" | "bool" | "boolean" | "i64" => Some(Self::Integer),
            "float" | "double" | "number" | "numeric" | "f64" => Some(Self::Real),
            "string" | "str" | "varchar" | "char" => Some(Self::Text),
            "bytes" | "bytea" => Some(Self::Blob),
            _ => None,
        };
        Err(match meant {
            Some(meant) => format!("`{word}` is no type: write `{}`", meant.name()),
            None => format!(
                "`{word}` is no type: expected {}, with a `?` where NULL is one of the values",
                listed(Self::ALL.map(Self::name))
            ),
        })
    }
}

impl SqlType {
    fn of(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (word, nullable) = text.strip_suffix('?').map_or((text, false), |word| (word.trim_end(), true));
        Ok(Self { ty: ValueType::of(word)?, nullable })
    }
}

impl fmt::Display for SqlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.ty.name(), if self.nullable { "?" } else { "" })
    }
}

/// `slug(text, integer?) text`: as it is declared, but for `not deterministic`.
#[must_use]
pub fn signature(name: &str, arguments: &[SqlType], result: SqlType) -> String {
    let arguments: Vec<String> = arguments.iter().map(SqlType::to_string).collect();
    format!("{name}({}) {result}", arguments.join(", "))
}

impl Function {
    /// Reads what stands behind the word `function`.
    ///
    /// # Errors
    /// What is wrong, and what would be right.
    pub fn of(declared: &str) -> Result<Self, String> {
        let parts = declared.split_once('(').and_then(|(name, rest)| Some((name, rest.split_once(')')?)));
        let (name, (arguments, rest)) = parts.ok_or_else(|| {
            format!("expected a name, the types of the arguments in parentheses, and that of the result: {EXAMPLE}")
        })?;
        let name = name_of(name.trim())?;
        let arguments = match arguments.trim() {
            "" => Vec::new(),
            list => list.split(',').map(SqlType::of).collect::<Result<_, _>>()?,
        };
        if arguments.len() > MOST_ARGUMENTS {
            return Err(format!("`{name}` has {} arguments, and may have {MOST_ARGUMENTS}", arguments.len()));
        }
        let mut words = rest.split_whitespace();
        let result = words.next().ok_or_else(|| format!("the type of the result is missing: {EXAMPLE}"))?;
        let result = SqlType::of(result)?;
        let deterministic = match words.collect::<Vec<_>>().as_slice() {
            [] => true,
            ["not", "deterministic"] => false,
            ["deterministic"] => {
                return Err(
                    "leave out `deterministic`: a function is that unless it says `not deterministic`".to_owned()
                );
            }
            other => {
                return Err(format!(
                    "`{}` follows the type of the result, where there may be `not deterministic` or nothing",
                    other.join(" ")
                ));
            }
        };
        Ok(Self { name, arguments, result, deterministic })
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&signature(&self.name, &self.arguments, self.result))
    }
}

/// In lower case, as SQLite compares it.
fn name_of(name: &str) -> Result<String, String> {
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|next| next.is_ascii_alphanumeric() || next == '_');
    if is_name {
        return Ok(name.to_ascii_lowercase());
    }
    Err(format!("`{name}` is no name of a function: expected a letter, then letters, digits and `_`, as in {EXAMPLE}"))
}
