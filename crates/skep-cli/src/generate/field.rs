//! A field, as the command line says it: `title:text`, `published:date?`, `author:account`.

use skep_units::nearest;

use super::name::Name;
use super::tables::Table;
use super::words;

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Text,
    Lines,
    Email,
    Url,
    Integer,
    Real,
    Bool,
    Date,
    Time,
    DateTime,
    /// A row of another table.
    Reference,
}

/// Name on the command line, kind, what it is.
pub(super) const KINDS: [(&str, Kind, &str); 10] = [
    ("text", Kind::Text, "one line, 200 characters at most"),
    ("lines", Kind::Lines, "several lines"),
    ("email", Kind::Email, "an e-mail address"),
    ("url", Kind::Url, "an address of http or https"),
    ("integer", Kind::Integer, "a whole number"),
    ("real", Kind::Real, "a number with decimals"),
    ("bool", Kind::Bool, "a tick"),
    ("date", Kind::Date, "a day"),
    ("time", Kind::Time, "a time of day"),
    ("datetime", Kind::DateTime, "a day and a time"),
];

/// What people write who come from elsewhere.
const ELSEWHERE: [(&str, &str); 16] = [
    ("string", "text"),
    ("str", "text"),
    ("varchar", "text"),
    ("char", "text"),
    ("textarea", "lines"),
    ("longtext", "lines"),
    ("int", "integer"),
    ("i64", "integer"),
    ("bigint", "integer"),
    ("number", "integer"),
    ("float", "real"),
    ("f64", "real"),
    ("boolean", "bool"),
    ("checkbox", "bool"),
    ("timestamp", "datetime"),
    ("link", "url"),
];

/// A field of a form, and a column of a table.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: Name,
    pub(super) kind: Kind,
    pub(super) optional: bool,
    /// The table that it refers to, with what its rows are called.
    pub(super) table: Option<Table>,
}

impl Field {
    /// An error if one of them can be no column.
    pub(super) fn check_columns(fields: &[Self]) -> Result<(), String> {
        match fields.iter().find(|field| words::is_sql(field.name.snake())) {
            Some(field) => {
                let name = field.name.snake();
                Err(format!("no column can be named \"{name}\", which is a word of SQL: choose another name"))
            }
            None => Ok(()),
        }
    }

    /// Reads all fields. `tables` are those that may be referred to; a form without a table has an empty list.
    pub(super) fn parse_all(texts: &[String], tables: &[Table]) -> Result<Vec<Self>, String> {
        let mut fields: Vec<Self> = Vec::new();
        for text in texts {
            let field = Self::parse(text, tables)?;
            if fields.iter().any(|other| other.name == field.name || other.column() == field.column()) {
                return Err(format!("the field \"{}\" is there twice", field.name.snake()));
            }
            fields.push(field);
        }
        Ok(fields)
    }

    fn parse(text: &str, tables: &[Table]) -> Result<Self, String> {
        let (name, kind) = text.split_once(':').ok_or_else(|| {
            format!("\"{text}\" is no field: expected a name and a type, such as \"{text}:text\"\n{}", list(tables))
        })?;
        let name = Name::parse(name, "field")?;
        if ["id", "form", "link"].contains(&name.snake()) {
            return Err(format!("no field can be named \"{}\", which is taken: choose another name", name.snake()));
        }
        let (word, optional) = kind.strip_suffix('?').map_or((kind, false), |word| (word, true));
        if let Some((_, kind, _)) = KINDS.iter().find(|(known, ..)| *known == word) {
            return Ok(Self { name, kind: *kind, optional: optional && *kind != Kind::Bool, table: None });
        }
        match tables.iter().find(|table| table.name == word) {
            Some(table) => Ok(Self { name, kind: Kind::Reference, optional, table: Some(table.clone()) }),
            None => Err(unknown(name.snake(), word, tables)),
        }
    }

    /// The column in its table.
    pub(super) fn column(&self) -> String {
        if self.kind == Kind::Reference { format!("{}_id", self.name.snake()) } else { self.name.snake().to_owned() }
    }

    /// Its type in a form, without `Option`.
    pub(super) fn form_type(&self) -> String {
        match (self.kind, &self.table) {
            (Kind::Text, _) => "Text<1, 200>".to_owned(),
            (Kind::Lines, _) => "MultilineText<1, 10_000>".to_owned(),
            (Kind::Email, _) => "Email".to_owned(),
            (Kind::Url, _) => "Url".to_owned(),
            (Kind::Integer, _) => "i64".to_owned(),
            (Kind::Real, _) => "f64".to_owned(),
            (Kind::Bool, _) => "bool".to_owned(),
            (Kind::Date, _) => "Date".to_owned(),
            (Kind::Time, _) => "Time".to_owned(),
            (Kind::DateTime, _) => "DateTime".to_owned(),
            (Kind::Reference, table) => format!("OneOf<{}>", offer(table.as_ref())),
        }
    }

    /// The type of `skep::form` that it needs.
    pub(super) fn import(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Text => Some("Text"),
            Kind::Lines => Some("MultilineText"),
            Kind::Email => Some("Email"),
            Kind::Url => Some("Url"),
            Kind::Date => Some("Date"),
            Kind::Time => Some("Time"),
            Kind::DateTime => Some("DateTime"),
            Kind::Reference => Some("OneOf"),
            Kind::Integer | Kind::Real | Kind::Bool => None,
        }
    }

    /// Its type in a row, without `Option`.
    pub(super) fn row_type(&self) -> &'static str {
        match self.kind {
            Kind::Integer | Kind::Reference => "i64",
            Kind::Real => "f64",
            Kind::Bool => "bool",
            _ => "String",
        }
    }

    /// `Option<...>` of it, if the field is optional.
    pub(super) fn optionally(&self, kind: &str) -> String {
        if self.optional { format!("Option<{kind}>") } else { kind.to_owned() }
    }

    /// True for what is kept as a text.
    pub(super) fn is_text(&self) -> bool {
        self.row_type() == "String"
    }

    /// True if it says what a row is, in one line that is always there.
    pub(super) fn is_title(&self) -> bool {
        !self.optional && matches!(self.kind, Kind::Text | Kind::Email | Kind::Url)
    }
}

/// The type that offers the rows of a table.
pub(super) fn offer(table: Option<&Table>) -> String {
    let name = table.map(|table| Name::parse(&table.name, "table"));
    name.and_then(Result::ok).map_or_else(String::new, |name| format!("Offered{}", name.plural().camel()))
}

fn unknown(field: &str, word: &str, tables: &[Table]) -> String {
    let names = KINDS.iter().map(|(name, ..)| *name).chain(tables.iter().map(|table| table.name.as_str()));
    let elsewhere = ELSEWHERE.iter().find(|(other, _)| *other == word.to_lowercase()).map(|(_, ours)| *ours);
    let near = elsewhere.or_else(|| nearest(word, names));
    let near = near.map(|near| format!("; did you mean `{field}:{near}`?")).unwrap_or_default();
    format!("there is no type and no table \"{word}\"{near}\n{}", list(tables))
}

/// All types, for an error.
pub(super) fn list(tables: &[Table]) -> String {
    let kinds = KINDS.map(|(name, _, about)| format!("  {name:9} {about}\n")).concat();
    let tables = tables.iter().map(|table| table.name.as_str()).collect::<Vec<_>>().join(", ");
    let tables = if tables.is_empty() { String::new() } else { format!(": {tables}") };
    format!("types, with a ? behind what may be left out:\n\n{kinds}  TABLE     a row of another table{tables}\n")
}
