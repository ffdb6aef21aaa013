//! Status reports of an application, for operators.

use std::fmt;

/// One part of a status report: a name, lines for people, values for programs.
///
/// ```
/// use skep_sql::status::Part;
///
/// let orders = Part::new("orders").line("7 orders wait, the oldest for 3 s").value("waiting", 7_u64).value("oldest", 3_u64);
/// assert_eq!(orders.to_string(), "orders\n  7 orders wait, the oldest for 3 s\n");
/// // Without a line, people see the values.
/// assert_eq!(Part::new("mails").value("sent", 12_u64).to_string(), "mails\n  sent: 12\n");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    name: String,
    lines: Vec<String>,
    values: Vec<(&'static str, Value)>,
}

/// A value of a [`Part`], of which programs see the type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(u64),
    /// Yes or no.
    Truth(bool),
    /// Anything else.
    Text(String),
}

impl Part {
    /// A part of this name, which says nothing yet.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), lines: Vec::new(), values: Vec::new() }
    }

    /// Adds a line for people.
    #[must_use]
    pub fn line(mut self, line: impl Into<String>) -> Self {
        self.lines.push(line.into());
        self
    }

    /// Adds a value for programs, in the place of one with the same key. `name` is not a key: it is there already.
    #[must_use]
    pub fn value(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.values.retain(|(known, _)| *known != key);
        self.values.push((key, value.into()));
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its values, in the order in which they were added.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.values.iter().map(|(key, value)| (*key, value))
    }
}

/// For people: the name, and below it the lines, or else the values.
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.name)?;
        if self.lines.is_empty() {
            return self.values.iter().try_for_each(|(key, value)| writeln!(f, "  {key}: {value}"));
        }
        self.lines.iter().try_for_each(|line| writeln!(f, "  {}", line.replace('\n', "\n  ")))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Truth(truth) => f.write_str(if *truth { "yes" } else { "no" }),
            Self::Text(text) => f.write_str(text),
        }
    }
}

macro_rules! values {
    ($($kind:ty => |$value:ident| $made:expr),+ $(,)?) => {
        $(impl From<$kind> for Value {
            fn from($value: $kind) -> Self {
                $made
            }
        })+
    };
}

values! {
    u64 => |value| Self::Number(value),
    u32 => |value| Self::Number(value.into()),
    usize => |value| Self::Number(value as u64),
    bool => |value| Self::Truth(value),
    &str => |value| Self::Text(value.to_owned()),
    String => |value| Self::Text(value),
}
