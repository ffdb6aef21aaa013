//! Structs of settings: what `derive(Settings)` implements.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::kind::{Kind, Value};
use super::table::{RawSetting, Row, Source, Table, Values};
use super::value::SettingValue;

/// The settings of an application, in one struct: derive it. An example is in `skep::settings`.
///
/// The struct names its table, `#[settings(table = "helpdesk")]`. Each field is a setting of its name; its doc comment
/// is the help text.
///
/// | attribute of a field | effect |
/// |---|---|
/// | `#[setting(default = "30s")]` | the default, as it would stand in skep.toml; numbers and booleans need no quotes |
/// | `#[setting(secret)]` | the value is shown as `***` |
/// | `#[setting(from_str)]` | the type implements [`FromStr`] and not [`SettingValue`] |
/// | `#[setting(nested)]` | the type derives `Settings` without a table of its own: `helpdesk.mail.host` |
pub trait Settings: Sized + Send + Sync + 'static {
    /// The table in `skep.toml`. Empty if it is part of another struct only.
    const TABLE: &'static str;
    /// The fields.
    const FIELDS: &'static [Field];

    /// Reads the fields; what is wrong is noted in `reader`.
    fn read(reader: &mut Reader<'_>) -> Option<Self>;
}

/// What is known of a field without its value.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name.
    pub name: &'static str,
    /// What it accepts.
    pub kind: Kind,
    /// The default. Empty means none.
    pub default: &'static str,
    /// It must be set.
    pub is_required: bool,
    /// It is shown as `***`.
    pub is_secret: bool,
    /// Sentences.
    pub help: &'static str,
    /// The fields in it, if it is a struct.
    pub nested: &'static [Field],
}

/// The settings that an application declares: `App::settings`.
#[derive(Clone, Copy)]
pub struct Declared {
    table: &'static str,
    fields: &'static [Field],
    load: Load,
}

/// The key of the value in the application's values, and the value.
pub type Loaded = (TypeId, Arc<dyn Any + Send + Sync>);
type Load = fn(&Values) -> Result<Loaded, Vec<String>>;

/// So that a value of settings is another type than a value of `App::state`.
pub struct Holder<T>(pub T);

impl Declared {
    /// That of this struct; one without a table does not compile.
    #[must_use]
    pub const fn of<T: Settings>() -> Self {
        const { assert!(!T::TABLE.is_empty(), "settings need a table: #[settings(table = \"name\")]") };
        Self { table: T::TABLE, fields: T::FIELDS, load: load::<T> }
    }

    /// The name of its table.
    #[must_use]
    pub fn table(&self) -> &'static str {
        self.table
    }

    /// The rows of its fields.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        rows(self.table, self.fields)
    }
}

/// Reads all structs from what the sources say about them.
///
/// # Errors
/// All that is missing or wrong.
pub fn load_all(declared: &[Declared], raw: Vec<RawSetting>) -> Result<Vec<Loaded>, Vec<String>> {
    let (values, mut problems) = Table::new(declared.iter().flat_map(Declared::rows).collect()).resolve(raw);
    let mut loaded = Vec::new();
    for one in declared {
        match (one.load)(&values) {
            Ok(value) => loaded.push(value),
            Err(more) => problems.extend(more),
        }
    }
    if problems.is_empty() { Ok(loaded) } else { Err(problems) }
}

fn load<T: Settings>(values: &Values) -> Result<Loaded, Vec<String>> {
    let mut reader = Reader::new(values, T::TABLE);
    match (T::read(&mut reader), reader.problems) {
        (Some(settings), problems) if problems.is_empty() => {
            Ok((TypeId::of::<Holder<T>>(), Arc::new(Holder(settings))))
        }
        // What is missing is a problem of the table already.
        (_, problems) => Err(problems),
    }
}

/// The rows of a table with these fields.
fn rows(table: &str, fields: &[Field]) -> Vec<Row> {
    fields.iter().flat_map(|field| field.rows(table)).collect()
}

impl Field {
    fn rows(&self, table: &str) -> Vec<Row> {
        let name = format!("{table}.{}", self.name);
        if !self.nested.is_empty() {
            return rows(&name, self.nested);
        }
        let default = if matches!(self.kind, Kind::Bool) && self.default.is_empty() { "false" } else { self.default };
        vec![Row {
            name: Cow::Owned(name),
            kind: self.kind.clone(),
            default: default.into(),
            is_required: self.is_required,
            is_secret: self.is_secret,
            flag: None,
            help: self.help.into(),
        }]
    }
}

/// Reads the fields of a struct from resolved values.
#[derive(Debug)]
pub struct Reader<'v> {
    values: &'v Values,
    table: String,
    problems: Vec<String>,
}

impl<'v> Reader<'v> {
    fn new(values: &'v Values, table: &str) -> Self {
        Self { values, table: table.to_owned(), problems: Vec::new() }
    }

    /// The value of a field.
    pub fn value<T: SettingValue>(&mut self, field: &Field) -> Option<T> {
        self.read(field, T::absent, T::from_value)
    }

    /// The value of a field, by [`FromStr`].
    pub fn from_str<T: FromStr<Err: fmt::Display>>(&mut self, field: &Field) -> Option<T> {
        self.read(field, || None, |value| value.to_string().parse().map_err(|error: T::Err| error.to_string()))
    }

    /// The value of a field that need not be set, by [`FromStr`].
    pub fn optional_from_str<T: FromStr<Err: fmt::Display>>(&mut self, field: &Field) -> Option<Option<T>> {
        let parse = |value: &Value| value.to_string().parse().map_err(|error: T::Err| error.to_string());
        self.read(field, || Some(None), |value| parse(value).map(Some))
    }

    /// A struct in this one.
    pub fn nested<T: Settings>(&mut self, field: &Field) -> Option<T> {
        let outer = self.table.clone();
        self.table = format!("{outer}.{}", field.name);
        let nested = T::read(self);
        self.table = outer;
        nested
    }

    fn read<T>(
        &mut self,
        field: &Field,
        absent: impl FnOnce() -> Option<T>,
        read: impl FnOnce(&Value) -> Result<T, String>,
    ) -> Option<T> {
        let name = format!("{}.{}", self.table, field.name);
        let resolved = self.values.get(&name)?;
        let is_empty = matches!(&resolved.value, Value::Text(text) if text.is_empty());
        if resolved.source == Source::Default && is_empty {
            return absent();
        }
        read(&resolved.value)
            .map_err(|problem| {
                // A problem may quote the value.
                let problem = if field.is_secret { "this value is not valid".to_owned() } else { problem };
                self.problems.push(resolved.refused(&problem));
            })
            .ok()
    }
}
