//! Where values come from, and which wins: default < file < environment < flags < fixed by the program.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::ConfigError;
use super::flags::Flags;
use super::nearest::nearest;
use super::table::{CACHE, SETTINGS, Setting, cache_of};
use super::value::{self, Value};

/// A value, and where it came from.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) name: Cow<'static, str>,
    pub(crate) value: Value,
    pub(crate) from: Place,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Default,
    File { path: PathBuf, line: usize },
    Variable(String),
    Flag(String),
    Program,
}

/// One value for each setting, in the order of the table, and behind them those of caches.
pub(crate) type Values = Vec<Known>;

/// A value that the program itself has fixed.
#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// The world outside: what is not in the flags.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    /// Environment variables.
    pub(crate) variables: Vec<(String, String)>,
    /// The file that is read if it is there and no other was named.
    pub(crate) file: Option<PathBuf>,
    /// Tables of the file that somebody else reads.
    pub(crate) left: Vec<&'static str>,
}

/// True if nobody has said anything about this setting.
pub(crate) fn is_default(values: &Values, name: &str) -> bool {
    values.iter().any(|known| known.name == name && known.from == Place::Default)
}

impl Sources {
    /// This process's environment and current directory.
    pub(crate) fn of_process() -> Self {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned())))
            .collect();
        Self { variables, file: Some("skep.toml".into()), left: Vec::new() }
    }

    /// True if a name in the file is somebody else's.
    fn leaves(&self, name: &str) -> bool {
        self.left.iter().any(|table| name.strip_prefix(table).is_some_and(|rest| rest.starts_with('.')))
    }
}

/// Something that was said, not yet understood.
struct Said {
    name: String,
    text: String,
    from: Place,
}

/// What was said, and what is wrong with it so far. A file that cannot be read at all is an error.
pub(crate) fn read(flags: &Flags, fixed: &[Fixed], sources: &Sources) -> Result<(Values, Vec<String>), ConfigError> {
    let mut said = file(flags, sources)?;
    said.retain(|said| !sources.leaves(&said.name));
    said.extend(variables(sources));
    said.extend(flags.settings.iter().map(|(name, text, flag)| Said {
        name: name.clone(),
        text: text.clone(),
        from: Place::Flag(flag.clone()),
    }));
    said.extend(fixed.iter().map(|fixed| Said {
        name: fixed.name.clone(),
        text: fixed.value.clone(),
        from: Place::Program,
    }));
    merge(said)
}

fn merge(said: Vec<Said>) -> Result<(Values, Vec<String>), ConfigError> {
    let mut values = Vec::with_capacity(SETTINGS.len());
    for setting in SETTINGS {
        let value = setting
            .kind
            .parse(setting.default)
            .map_err(|problem| ConfigError::one(format!("the default of {} is not {problem}", setting.name)))?;
        values.push(Known { name: setting.name.into(), value, from: Place::Default });
    }
    let mut problems = Vec::new();
    for said in said {
        let Some(setting) = setting_of(&said.name) else {
            problems.push(unknown(&said));
            continue;
        };
        match setting.kind.parse(&said.text) {
            Ok(value) => match values.iter_mut().find(|known| known.name == said.name) {
                Some(known) => put(known, value, said.from),
                None => values.push(Known { name: said.name.into(), value, from: said.from }),
            },
            Err(right) => problems.push(wrong(&said, &right)),
        }
    }
    Ok((values, problems))
}

/// The row of a setting; those of all caches have one row.
fn setting_of(name: &str) -> Option<&'static Setting> {
    let row = if cache_of(name).is_some() { CACHE } else { name };
    SETTINGS.iter().find(|setting| setting.name == row && name != CACHE)
}

/// A later layer replaces an earlier one; a flag that is repeated adds to its list.
fn put(known: &mut Known, value: Value, from: Place) {
    match (&mut known.value, value) {
        (Value::List(list), Value::List(more)) if known.from == from && matches!(from, Place::Flag(_)) => {
            list.extend(more);
        }
        (_, value) => *known = Known { name: std::mem::take(&mut known.name), value, from },
    }
}

fn unknown(said: &Said) -> String {
    let meant = nearest(&said.name, SETTINGS.iter().map(|setting| setting.name));
    let hint = match (&said.from, meant) {
        (Place::Variable(_), Some(meant)) => format!("; did you mean {}?", variable_of(meant)),
        (_, Some(meant)) => format!("; did you mean {meant}?"),
        (_, None) => "; --help lists all settings".to_owned(),
    };
    match &said.from {
        Place::Variable(_) => format!("{}: there is no such setting{hint}", said.from),
        _ => format!("{}: there is no setting \"{}\"{hint}", said.from, said.name),
    }
}

fn wrong(said: &Said, right: &str) -> String {
    format!("{}: {} = \"{}\": expected {right}", said.from, said.name, said.text.replace(value::LINE, ", "))
}

/// `SKEP_LIMITS_BODY` for `limits.body`.
pub(crate) fn variable_of(name: &str) -> String {
    format!("SKEP_{}", name.replace('.', "_").to_ascii_uppercase())
}

fn variables(sources: &Sources) -> impl Iterator<Item = Said> {
    sources.variables.iter().filter(|(variable, _)| variable.starts_with("SKEP_")).map(|(variable, text)| {
        let known = SETTINGS.iter().find(|setting| setting.name != CACHE && variable_of(setting.name) == *variable);
        let name = match (known, variable.strip_prefix("SKEP_CACHE_").and_then(|rest| rest.strip_suffix("_TIERS"))) {
            (Some(setting), _) => setting.name.to_owned(),
            (None, Some(cache)) => format!("cache.{}.tiers", cache.to_ascii_lowercase()),
            (None, None) => variable["SKEP_".len()..].to_ascii_lowercase(),
        };
        Said { name, text: text.clone(), from: Place::Variable(variable.clone()) }
    })
}

fn file(flags: &Flags, sources: &Sources) -> Result<Vec<Said>, ConfigError> {
    let Some(path) = flags.file.as_ref().or(sources.file.as_ref()) else { return Ok(Vec::new()) };
    match std::fs::read_to_string(path) {
        Ok(text) => read_file(path, &text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && flags.file.is_none() => Ok(Vec::new()),
        Err(error) => {
            Err(ConfigError::one(format!("cannot read the settings in {}: {}", path.display(), unread(&error))))
        }
    }
}

fn unread(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::InvalidData => "the file is not UTF-8".to_owned(),
        _ => error.to_string(),
    }
}

fn read_file(path: &Path, text: &str) -> Result<Vec<Said>, ConfigError> {
    let place = |span: Range<usize>| Place::File { path: path.to_owned(), line: line_of(text, span.start) };
    let table = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let missing = without_value(text, span.start).map(|key| no_value(&place(span.clone()), &key));
        ConfigError::one(missing.unwrap_or_else(|| format!("{}: {}", place(span), error.message().replace('\n', ", "))))
    })?;
    let mut said = Vec::new();
    flatten("", table.get_ref(), &mut |name, span, text| said.push(Said { name, text, from: place(span) }));
    Ok(said)
}

/// The setting on the line of this offset, if there is nothing behind its `=`.
fn without_value(text: &str, offset: usize) -> Option<String> {
    let before = text.get(..offset)?;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let (key, value) = text[start..].lines().next()?.split_once('=')?;
    let is_missing = value.trim().is_empty() || value.trim_start().starts_with('#');
    let mut sections = before.lines().filter_map(|line| line.trim().strip_prefix('[')?.strip_suffix(']'));
    let section = sections.next_back().map_or(String::new(), |section| format!("{}.", section.trim()));
    is_missing.then(|| format!("{section}{}", key.trim()))
}

fn no_value(place: &Place, key: &str) -> String {
    let example = setting_of(key).filter(|setting| !setting.default.is_empty());
    let example =
        example.map_or(String::new(), |setting| format!("; if nothing is said, it is \"{}\"", setting.default));
    format!("{place}: {key} has no value: write one behind the =, or leave the line out{example}")
}

/// Turns `[limits] body = 1` into `limits.body` and `1`.
fn flatten(prefix: &str, table: &DeTable<'_>, take: &mut impl FnMut(String, Range<usize>, String)) {
    for (key, value) in table {
        let name = format!("{prefix}{}", key.get_ref());
        match value.get_ref() {
            DeValue::Table(table) => flatten(&format!("{name}."), table, take),
            other => take(name, key.span(), text_of(other)),
        }
    }
}

fn text_of(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.as_str().replace('_', ""),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(on) => on.to_string(),
        DeValue::Array(list) => {
            list.iter().map(Spanned::get_ref).map(text_of).collect::<Vec<_>>().join(&value::LINE.to_string())
        }
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Variable(name) | Self::Flag(name) => f.write_str(name),
            Self::Program => f.write_str("fixed by the program"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(
        file: &str,
        variables: &[(&str, &str)],
        flags: &[&str],
        fixed: &[(&str, &str)],
    ) -> Result<Values, String> {
        let mut said = read_file(Path::new("skep.toml"), file).map_err(|error| error.to_string())?;
        let variables_ = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        said.extend(super::variables(&Sources { variables: variables_, ..Sources::default() }));
        let flags = Flags::parse(flags.iter().map(Into::into)).map_err(|error| error.to_string())?;
        said.extend(flags.settings.into_iter().map(|(name, text, flag)| Said { name, text, from: Place::Flag(flag) }));
        said.extend(fixed.iter().map(|(name, text)| Said {
            name: (*name).to_owned(),
            text: (*text).to_owned(),
            from: Place::Program,
        }));
        let (values, problems) = merge(said).map_err(|error| error.to_string())?;
        if problems.is_empty() { Ok(values) } else { Err(problems.join("\n")) }
    }

    fn of(values: &Values, name: &str) -> (String, String) {
        let index = SETTINGS.iter().position(|setting| setting.name == name).unwrap();
        (values[index].value.to_string(), values[index].from.to_string())
    }

    fn pair(value: &str, from: &str) -> (String, String) {
        (value.to_owned(), from.to_owned())
    }

    #[test]
    fn a_later_layer_wins() {
        let file = "workers = 1\ngrace = \"1s\"\n[limits]\nbody = 100\nurl = \"1KiB\"\n";
        let variables = [("SKEP_LIMITS_BODY", "200B"), ("SKEP_GRACE", "2s"), ("HOME", "/")];
        let values = layers(file, &variables, &["--set", "grace=3s"], &[("workers", "4")]).unwrap();
        assert_eq!(of(&values, "limits.url"), pair("1KiB", "skep.toml:5"));
        assert_eq!(of(&values, "limits.body"), pair("200B", "SKEP_LIMITS_BODY"));
        assert_eq!(of(&values, "grace"), pair("3s", "--set"));
        assert_eq!(of(&values, "workers"), pair("4", "fixed by the program"));
        assert_eq!(of(&values, "limits.header_fields"), pair("100", "default"));
    }

    #[test]
    fn flags_replace_a_list_and_add_to_their_own() {
        let file = "listen = [\"127.0.0.1:1\", \"127.0.0.1:2\"]";
        let values = layers(file, &[], &[], &[]).unwrap();
        assert_eq!(of(&values, "listen").0, "127.0.0.1:1, 127.0.0.1:2");
        let values = layers(file, &[], &["--listen", ":3", "--listen=:4"], &[]).unwrap();
        assert_eq!(of(&values, "listen"), pair(":3, :4", "--listen"));
    }

    #[test]
    fn an_unknown_key_is_named_with_its_place_and_its_neighbour() {
        let problem = layers("\n[limits]\nbdoy = 1\n", &[], &[], &[]).unwrap_err();
        assert_eq!(problem, "skep.toml:3: there is no setting \"limits.bdoy\"; did you mean limits.body?");
        let problem = layers("", &[("SKEP_WORKER", "1")], &[], &[]).unwrap_err();
        assert_eq!(problem, "SKEP_WORKER: there is no such setting; did you mean SKEP_WORKERS?");
        let problem = layers("", &[], &["--set", "log.acces=false"], &[]).unwrap_err();
        assert_eq!(problem, "--set: there is no setting \"log.acces\"; did you mean log.access?");
    }

    #[test]
    fn a_wrong_value_is_told_what_would_be_right() {
        let problem = layers("grace = 10\n[log]\naccess = \"yes\"", &[], &[], &[]).unwrap_err();
        assert_eq!(
            problem,
            "skep.toml:1: grace = \"10\": expected a time from 0 to 1d, such as 10s or 500ms\n\
             skep.toml:3: log.access = \"yes\": expected true or false"
        );
        let problem = layers("", &[], &["--mpm", "isolate"], &[]).unwrap_err();
        assert_eq!(problem, "--mpm: mpm = \"isolate\": expected one of thread, prefork");
    }

    #[test]
    fn each_cache_has_tiers_of_its_own() {
        let file = "[cache.pages]\ntiers = [\"memory:1MiB\", \"memcached:a,b\"]\n";
        let variables = [("SKEP_CACHE_RATES_TIERS", "memory:1MiB; shared:2MiB")];
        let values = layers(file, &variables, &["--set", "cache.default.tiers=null"], &[]).unwrap();
        let of = |name: &str| values.iter().find(|known| known.name == name).map(|known| known.value.clone());
        let list = |list: &[&str]| Some(Value::List(list.iter().map(ToString::to_string).collect()));
        assert_eq!(of("cache.pages.tiers"), list(&["memory:1MiB", "memcached:a,b"]));
        assert_eq!(of("cache.rates.tiers"), list(&["memory:1MiB", "shared:2MiB"]));
        assert_eq!(of("cache.default.tiers"), list(&["null"]));
        let problem = layers("[cache.Pages]\ntiers = \"null\"", &[], &[], &[]).unwrap_err();
        assert_eq!(problem, "skep.toml:2: there is no setting \"cache.Pages.tiers\"; did you mean cache.NAME.tiers?");
        let problem = layers("[cache.pages]\ntiers = []", &[], &[], &[]).unwrap_err();
        assert!(problem.starts_with("skep.toml:2: cache.pages.tiers = \"\": expected one to three tiers"), "{problem}");
    }

    #[test]
    fn tables_of_others_are_left_to_them() {
        let sources = Sources { left: vec!["isolate"], ..Sources::default() };
        assert!(sources.leaves("isolate.shop.file"));
        assert!(!sources.leaves("isolated.file") && !sources.leaves("isolate"));
    }

    #[test]
    fn a_broken_file_is_named_with_its_line() {
        let problem = layers("workers = 1\ngrace = 1 2\n", &[], &[], &[]).unwrap_err();
        assert!(problem.starts_with("skep.toml:2: "), "{problem}");
    }

    #[test]
    fn a_line_that_ends_with_its_equals_sign_is_named() {
        let problem = |file: &str| layers(file, &[], &[], &[]).unwrap_err();
        let rest = "has no value: write one behind the =, or leave the line out; if nothing is said, it is";
        assert_eq!(problem("workers = 1\ngrace = \n"), format!("skep.toml:2: grace {rest} \"10s\""));
        assert_eq!(problem("[log]\nlevel = # low\n"), format!("skep.toml:2: log.level {rest} \"info\""));
        assert!(problem("listen =").starts_with("skep.toml:1: listen has no value"), "{}", problem("listen ="));
    }
}
