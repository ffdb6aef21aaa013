//! A table of settings, and the values that it resolves: default < file < environment < flags < fixed in code.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use skep_units::nearest;

use super::kind::{Kind, Value};

/// One setting.
#[derive(Clone, Debug)]
pub struct Row {
    /// The name with its table, such as `limits.body`. A part `NAME` stands for any name: `cache.NAME.tiers`.
    pub name: Cow<'static, str>,
    /// What it accepts.
    pub kind: Kind,
    /// The default. Empty means none.
    pub default: Cow<'static, str>,
    /// It must be set: there is no default.
    pub is_required: bool,
    /// It is shown as `***`.
    pub is_secret: bool,
    /// A flag of its own, and the name of the flag's argument; a [`Kind::Bool`] needs no argument.
    pub flag: Option<(Cow<'static, str>, &'static str)>,
    /// Sentences; `--help` shows the first.
    pub help: Cow<'static, str>,
}

/// A value that a source gives, not yet judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawSetting {
    /// The name of the setting; of a variable that fits no row, the variable.
    pub name: String,
    /// The value.
    pub value: RawValue,
    /// The source.
    pub source: Source,
}

/// Text, or an array of texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RawValue {
    /// One text: a list is split at `;`.
    Text(String),
    /// The elements of an array.
    List(Vec<String>),
}

/// Where a value came from. A later source wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Nothing sets it.
    Default,
    /// A line of a settings file.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// An environment variable.
    Environment(String),
    /// A flag.
    Flag(String),
    /// The program.
    Fixed,
}

/// The value of a setting, and where it came from.
#[derive(Clone)]
pub struct Resolved {
    /// The setting.
    pub name: String,
    /// Its value.
    pub value: Value,
    /// Where it came from.
    pub source: Source,
    /// It is shown as `***`.
    pub is_secret: bool,
}

/// The values of all settings, in the order of their table; those of rows with a `NAME` follow.
#[derive(Clone, Debug, Default)]
pub struct Values(Vec<Resolved>);

/// All settings there are.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Row>,
}

impl Table {
    /// A table of these rows.
    #[must_use]
    pub fn new(rows: Vec<Row>) -> Self {
        Self { rows }
    }

    /// The rows.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The row of a setting.
    #[must_use]
    pub fn row(&self, name: &str) -> Option<&Row> {
        let exact = self.rows.iter().find(|row| row.name == name && !row.is_pattern());
        exact.or_else(|| self.rows.iter().find(|row| row.is_pattern() && row.matches(name)))
    }

    /// Resolves what the sources say, from the weakest to the strongest. The second part is all that is wrong.
    #[must_use]
    pub fn resolve(&self, raw: Vec<RawSetting>) -> (Values, Vec<String>) {
        let (mut values, mut problems) = (Vec::with_capacity(self.rows.len()), Vec::new());
        for row in self.rows.iter().filter(|row| !row.is_pattern()) {
            match row.parse(&RawValue::Text(row.default.clone().into_owned())) {
                Ok(value) => values.push(Resolved::new(row, row.name.clone().into_owned(), value, Source::Default)),
                // A required setting has no default.
                Err(_) if row.default.is_empty() => {
                    let nothing = Value::Text(String::new());
                    values.push(Resolved::new(row, row.name.clone().into_owned(), nothing, Source::Default));
                }
                Err(expected) => problems.push(format!("the default of {}: expected {expected}", row.name)),
            }
        }
        for raw in raw {
            let Some(row) = self.row(&raw.name) else {
                problems.push(self.unknown(&raw));
                continue;
            };
            match row.parse(&raw.value) {
                Ok(value) => match values.iter_mut().find(|known| known.name == raw.name) {
                    Some(known) => known.replace(value, raw.source),
                    None => values.push(Resolved::new(row, raw.name, value, raw.source)),
                },
                Err(expected) => problems.push(raw.invalid(&expected, row.is_secret)),
            }
        }
        let values = Values(values);
        problems.extend(self.rows.iter().filter(|row| values.misses(row)).map(Row::missing));
        (values, problems)
    }

    /// The message for a setting that is in no table.
    #[must_use]
    pub fn unknown(&self, raw: &RawSetting) -> String {
        let names = self.rows.iter().map(|row| &*row.name);
        if let Source::Environment(variable) = &raw.source {
            let variables: Vec<String> = names.map(variable_of).collect();
            let hint = hint(nearest(variable, variables.iter().map(String::as_str)));
            return format!("{variable}: there is no such setting{hint}");
        }
        let hint = hint(nearest(&raw.name, names));
        format!("{}: there is no setting \"{}\"{hint}", raw.source, raw.name)
    }

    /// The setting that a variable `SKEP_...` sets: `SKEP_LIMITS_BODY` is `limits.body`.
    #[must_use]
    pub fn name_of_variable(&self, variable: &str) -> Option<String> {
        let is_exact = |row: &&Row| !row.is_pattern() && variable_of(&row.name) == variable;
        if let Some(row) = self.rows.iter().find(is_exact) {
            return Some(row.name.clone().into_owned());
        }
        self.rows.iter().filter(|row| row.is_pattern()).find_map(|row| {
            let (before, after) = row.name.split_once("NAME")?;
            let middle =
                variable.strip_prefix(&variable_of(before))?.strip_suffix(&variable_of(after)["SKEP_".len()..])?;
            let name = format!("{before}{}{after}", middle.to_ascii_lowercase());
            row.matches(&name).then_some(name)
        })
    }
}

fn hint(meant: Option<&str>) -> String {
    meant.map_or_else(|| "; --help lists all settings".to_owned(), |meant| format!("; did you mean {meant}?"))
}

/// `SKEP_LIMITS_BODY` for `limits.body`.
#[must_use]
pub fn variable_of(name: &str) -> String {
    format!("SKEP_{}", name.replace(['.', '-'], "_").to_ascii_uppercase())
}

impl Row {
    /// True if a part of the name stands for any name.
    #[must_use]
    pub fn is_pattern(&self) -> bool {
        self.name.split('.').any(|part| part == "NAME")
    }

    fn matches(&self, name: &str) -> bool {
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
        let (mut pattern, mut parts) = (self.name.split('.'), name.split('.'));
        let all = pattern.by_ref().zip(parts.by_ref()).all(|(pattern, part)| match pattern {
            "NAME" => (1..=64).contains(&part.len()) && part.bytes().all(fits),
            pattern => pattern == part,
        });
        all && self.name.split('.').count() == name.split('.').count()
    }

    /// What stands for `NAME` in a setting of this row.
    pub(crate) fn name_in<'s>(&self, setting: &'s str) -> Option<&'s str> {
        let part = self.name.split('.').position(|part| part == "NAME").filter(|_| self.matches(setting))?;
        setting.split('.').nth(part)
    }

    fn parse(&self, raw: &RawValue) -> Result<Value, String> {
        match (self.kind.is_list(), raw) {
            (false, RawValue::Text(text)) => self.kind.parse(text),
            (true, RawValue::Text(text)) if text.trim().is_empty() => self.kind.parse_list(&[]),
            (true, RawValue::Text(text)) => {
                let elements = skep_units::parse_list(text).map_err(|_| self.kind.to_string())?;
                self.kind.parse_list(&elements.into_iter().map(ToOwned::to_owned).collect::<Vec<_>>())
            }
            (true, RawValue::List(elements)) => self.kind.parse_list(elements),
            (false, RawValue::List(_)) => Err(format!("{}, and not a list", self.kind)),
        }
    }

    fn missing(&self) -> String {
        let (table, key) = self.name.rsplit_once('.').unwrap_or(("", &self.name));
        format!(
            "the setting {} is missing: {} Set it in skep.toml ([{table}] {key} = \"...\"), with {}=..., or with --set {}=...",
            self.name,
            first_sentence(&self.help),
            variable_of(&self.name),
            self.name
        )
    }
}

/// The first sentence of a help text, without Markdown's code marks.
pub(crate) fn first_sentence(help: &str) -> String {
    let end = help.find(". ").map_or(help.len(), |at| at + 1);
    help[..end].replace('`', "")
}

impl RawSetting {
    fn invalid(&self, expected: &str, is_secret: bool) -> String {
        let value = if is_secret { "***".to_owned() } else { self.value.to_string() };
        format!("{}: {} = \"{value}\": expected {expected}", self.source, self.name)
    }
}

impl Resolved {
    fn new(row: &Row, name: String, value: Value, source: Source) -> Self {
        Self { name, value, source, is_secret: row.is_secret }
    }

    /// A later source replaces an earlier one; a repeated flag adds to its list.
    fn replace(&mut self, value: Value, source: Source) {
        match (&mut self.value, value) {
            (Value::List(list), Value::List(more)) if self.source == source && matches!(source, Source::Flag(_)) => {
                list.extend(more);
            }
            (_, value) => (self.value, self.source) = (value, source),
        }
    }

    /// The message for a value that its part refuses. A secret is not shown.
    #[must_use]
    pub fn refused(&self, problem: &str) -> String {
        format!("{}: {} = \"{}\": {problem}", self.source, self.name, self.shown())
    }

    /// The value as it may be shown.
    #[must_use]
    pub fn shown(&self) -> String {
        if self.is_secret && self.source != Source::Default { "***".to_owned() } else { self.value.to_string() }
    }
}

/// Without secrets.
impl fmt::Debug for Resolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {:?} ({})", self.name, self.shown(), self.source)
    }
}

impl Values {
    /// The value of a setting.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Resolved> {
        self.0.iter().find(|resolved| resolved.name == name)
    }

    /// All values.
    pub fn iter(&self) -> impl Iterator<Item = &Resolved> {
        self.0.iter()
    }

    /// True if no source sets it.
    #[must_use]
    pub fn is_default(&self, name: &str) -> bool {
        self.get(name).is_none_or(|resolved| resolved.source == Source::Default)
    }

    fn misses(&self, row: &Row) -> bool {
        row.is_required && !row.is_pattern() && self.is_default(&row.name)
    }
}

impl fmt::Display for RawValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::List(list) => f.write_str(&skep_units::format_list(list)),
        }
    }
}

impl Source {
    /// True if this source wins over the other.
    #[must_use]
    pub fn is_stronger_than(&self, other: &Self) -> bool {
        self.rank() > other.rank()
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File { .. } => 1,
            Self::Environment(_) => 2,
            Self::Flag(_) => 3,
            Self::Fixed => 4,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) | Self::Flag(name) => f.write_str(name),
            Self::Fixed => f.write_str("fixed by the program"),
        }
    }
}
