//! What the sources say: default < file < environment < flags < fixed in code.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use skep::settings::{RawSetting, RawValue, Row, Source, Table};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::flags::Flags;
use crate::error::StartError;

/// The sources outside the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    /// Environment variables.
    pub(crate) variables: Vec<(String, String)>,
    /// The file that is read if it exists and no other was named.
    pub(crate) file: Option<PathBuf>,
    /// Tables of the file that something else reads.
    pub(crate) ignored_tables: Vec<&'static str>,
}

impl Sources {
    /// The environment and the current directory of this process.
    pub(crate) fn of_process() -> Self {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
            .collect();
        Self { variables, file: Some("skep.toml".into()), ignored_tables: Vec::new() }
    }

    /// True if a setting of the file is in a table that something else reads.
    fn ignores(&self, name: &str) -> bool {
        self.ignored_tables.iter().any(|table| name.strip_prefix(table).is_some_and(|rest| rest.starts_with('.')))
    }

    /// Reads all sources, from the weakest to the strongest.
    pub(crate) fn read(
        &self,
        flags: &Flags,
        fixed: &[RawSetting],
        table: &Table,
    ) -> Result<Vec<RawSetting>, StartError> {
        let mut raw = self.read_file(flags, table)?;
        raw.retain(|raw| !self.ignores(&raw.name));
        raw.extend(self.variables(table));
        raw.extend(flags.settings.iter().chain(fixed).cloned());
        Ok(raw)
    }

    fn variables(&self, table: &Table) -> impl Iterator<Item = RawSetting> {
        let ours = self.variables.iter().filter(|(variable, _)| variable.starts_with("SKEP_"));
        ours.map(|(variable, text)| RawSetting {
            name: table.name_of_variable(variable).unwrap_or_else(|| variable.clone()),
            value: RawValue::Text(text.clone()),
            source: Source::Environment(variable.clone()),
        })
    }

    fn read_file(&self, flags: &Flags, table: &Table) -> Result<Vec<RawSetting>, StartError> {
        let Some(path) = flags.file.as_ref().or(self.file.as_ref()) else { return Ok(Vec::new()) };
        match std::fs::read_to_string(path) {
            Ok(text) => parse_file(path, &text, table),
            Err(error) if error.kind() == io::ErrorKind::NotFound && flags.file.is_none() => Ok(Vec::new()),
            Err(error) => {
                let problem = match error.kind() {
                    io::ErrorKind::InvalidData => "the file is not UTF-8".to_owned(),
                    _ => error.to_string(),
                };
                Err(StartError::new(format!("cannot read the settings in {}: {problem}", path.display())))
            }
        }
    }
}

/// The settings in the text of a file.
fn parse_file(path: &Path, text: &str, table: &Table) -> Result<Vec<RawSetting>, StartError> {
    let source = |span: Range<usize>| Source::File { path: path.to_owned(), line: line_of(text, span.start) };
    let parsed = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let missing = key_without_value(text, span.start).map(|key| missing_value(&source(span.clone()), &key, table));
        StartError::new(missing.unwrap_or_else(|| format!("{}: {}", source(span), error.message().replace('\n', ", "))))
    })?;
    let mut raw = Vec::new();
    flatten("", parsed.get_ref(), table, &mut |name, span, value| {
        raw.push(RawSetting { name, value, source: source(span) });
    });
    Ok(raw)
}

/// The setting on the line of this offset, if nothing follows its `=`.
fn key_without_value(text: &str, offset: usize) -> Option<String> {
    let before = text.get(..offset)?;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let (key, value) = text[start..].lines().next()?.split_once('=')?;
    let is_missing = value.trim().is_empty() || value.trim_start().starts_with('#');
    let mut sections = before.lines().filter_map(|line| line.trim().strip_prefix('[')?.strip_suffix(']'));
    let section = sections.next_back().map_or(String::new(), |section| format!("{}.", section.trim()));
    is_missing.then(|| format!("{section}{}", key.trim()))
}

fn missing_value(source: &Source, key: &str, table: &Table) -> String {
    let default = table.row(key).map(|row| &*row.default).filter(|default| !default.is_empty());
    let default = default.map_or(String::new(), |default| format!("; the default is \"{default}\""));
    format!("{source}: {key} has no value: write one after the =, or remove the line{default}")
}

/// Turns `[limits] body = 1` into `limits.body` and `1`. A table where a list is expected is a list of `NAME=VALUE`.
fn flatten(prefix: &str, section: &DeTable<'_>, table: &Table, take: &mut impl FnMut(String, Range<usize>, RawValue)) {
    for (key, value) in section {
        let name = format!("{prefix}{}", key.get_ref());
        let is_list = table.row(&name).is_some_and(|row: &Row| row.kind.is_list());
        match value.get_ref() {
            DeValue::Table(pairs) if is_list => {
                let pair = |(name, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
                    let name: &std::borrow::Cow<'_, str> = name.get_ref();
                    format!("{name}={}", text_of(value.get_ref()))
                };
                take(name, key.span(), RawValue::List(pairs.iter().map(pair).collect()));
            }
            DeValue::Table(section) => flatten(&format!("{name}."), section, table, take),
            DeValue::Array(list) => {
                take(name, key.span(), RawValue::List(list.iter().map(Spanned::get_ref).map(text_of).collect()));
            }
            other => take(name, key.span(), RawValue::Text(text_of(other))),
        }
    }
}

fn text_of(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.as_str().replace('_', ""),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(on) => on.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(_) => "an array".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}
