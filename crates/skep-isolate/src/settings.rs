//! The settings of `skep serve`: rows of the server's table.
//!
//! `skep serve FILE` serves one component. Without a file, each table `[component.NAME]` of `skep.toml` is a component.
//! `component.memory` holds for all of them, `component.NAME.memory` for one: the stronger source wins, and of equal
//! ones the one with the name.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use skep::settings::{RawSetting, RawValue, Resolved, Row, Source, Value, Values, section};
use skep_settings::{FromSetting, GIB, Group, KIB, settings};

use crate::disk::Disk;
use crate::error::Error;
use crate::options::{self, MOST_INSTANCES, Options};
use crate::state::TotalMemory;

/// The settings of `skep serve` that are not the server's.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) applications: Vec<Options>,
    pub(crate) compile_cache: Cache,
    pub(crate) status: Option<String>,
    /// The settings that the applications in the components declare.
    pub(crate) declared: Vec<Row>,
}

/// Where compiled code is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Cache {
    /// The user's own directory for caches, if there is one.
    #[default]
    Usual,
    None,
    At(PathBuf),
}

settings! {
    /// The settings of the server that all components share.
    #[derive(Clone, Debug)]
    pub(crate) struct Shared in "component" {
        /// Directory of compiled code, so that the next start compiles nothing; `none` turns it off. Empty means
        /// $XDG_CACHE_HOME/skep or ~/.cache/skep. A directory or a file that others may write is not used.
        compile_cache: Cache = Path, "", flag "--compile-cache" "DIR|none";
        /// Path of a page with the status of the components, such as `/-/isolate`. Empty means no page.
        status: Option<String> = Path, "", by status, flag "--status" "PATH";
        /// Maximum memory of all instances of the server together. A request whose instance gets none is refused (503);
        /// `memory.grow` of one that runs fails. Each counts with the whole size of its memory, also where pages are
        /// shared with its snapshot.
        total_memory: TotalMemory = Size(64 * KIB..=1024 * GIB), 4 * GIB, flag "--total-memory" "SIZE";
    }
}

settings! {
    /// Where a component is.
    #[derive(Clone, Debug)]
    struct Named in "component.NAME" {
        /// File of the component NAME, relative to the settings file. Without `skep serve FILE`, each such table is
        /// served.
        file: Option<PathBuf> = Path, "";
    }
}

/// The rows of all components.
pub(crate) fn rows() -> Vec<Row> {
    Shared::rows().into_iter().chain(Named::rows()).chain(options::rows()).collect()
}

fn status(path: &str) -> Result<Option<String>, String> {
    let status = Some(path).filter(|path| !path.is_empty());
    if status.is_some_and(|path| !path.starts_with('/')) {
        return Err("expected a path, such as /-/isolate".to_owned());
    }
    Ok(status.map(ToOwned::to_owned))
}

impl FromSetting<str> for Cache {
    fn from_setting(text: &str) -> Result<Self, String> {
        Ok(match text {
            "" => Self::Usual,
            "none" => Self::None,
            folder => Self::At(folder.into()),
        })
    }
}

impl FromSetting<u64> for TotalMemory {
    fn from_setting(limit: &u64) -> Result<Self, String> {
        Ok(Self::new(*limit))
    }
}

/// The reference page of the settings of `skep serve`, in Markdown: `docs/reference/configuration.md`.
#[must_use]
pub fn reference() -> String {
    skep_server::reference(&rows())
}

impl Settings {
    /// Reads the settings of the components. `file`: the only one, if the command line names it.
    pub(crate) fn new(file: Option<&Path>, values: &Values) -> Result<Self, Error> {
        let mut shared = Shared::default();
        for resolved in values.iter() {
            if let Some(Err(problem)) = shared.set(&resolved.name, &resolved.value) {
                return Err(Error::Invalid(format!("{}: {problem}", resolved.name)));
            }
        }
        let files = match file {
            Some(file) => vec![(name_of(file), file.to_owned())],
            None => named_files(values)?,
        };
        if files.is_empty() {
            return Err(Error::invalid(
                "there is nothing to serve: name a component, `skep serve app.wasm`, or add it to skep.toml\n[component.app]\nfile = \"app.wasm\"",
            ));
        }
        // Many components have fewer instances each, unless a setting says otherwise.
        let room = MOST_INSTANCES / u32::try_from(files.len()).unwrap_or(u32::MAX).max(1);
        let options = |(name, file)| options(name, file, values, room.max(1));
        let mut applications = files.into_iter().map(options).collect::<Result<Vec<_>, _>>()?;
        let mut rows: Vec<Row> = Vec::new();
        for one in &mut applications {
            one.total_memory = shared.total_memory.clone();
            let own = declared(&one.file);
            one.declared = own.iter().map(|row| row.name.clone().into_owned()).collect();
            for row in own {
                if rows.iter().all(|known| known.name != row.name) {
                    rows.push(row);
                }
            }
        }
        let together: u32 = applications.iter().map(|one| one.instances).sum();
        if together > MOST_INSTANCES {
            return Err(Error::Invalid(format!(
                "all components together may have {together} instances, and a process has room for {MOST_INSTANCES}: set fewer `instances`"
            )));
        }
        Ok(Self { applications, compile_cache: shared.compile_cache, status: shared.status, declared: rows })
    }
}

/// The name of a component that is served alone.
fn name_of(file: &Path) -> String {
    file.file_stem().unwrap_or_else(|| OsStr::new("app")).to_string_lossy().into_owned()
}

/// The components of `skep.toml`.
fn named_files(values: &Values) -> Result<Vec<(String, PathBuf)>, Error> {
    let name = |resolved: &Resolved| {
        let mut parts = resolved.name.strip_prefix("component.")?.split('.');
        let name = parts.next()?.to_owned();
        parts.next().map(|_| name)
    };
    let names: BTreeSet<String> = values.iter().filter_map(name).collect();
    let file = |name: String| {
        let resolved = values.get(&format!("component.{name}.file"));
        let resolved = resolved.ok_or_else(|| Error::Invalid(format!("component.{name} has no `file`")))?;
        let file = PathBuf::from(resolved.value.to_string());
        let file = match &resolved.source {
            // Beside the settings, in whatever directory the server was started.
            Source::File { path, .. } => path.parent().unwrap_or_else(|| Path::new("")).join(file),
            _ => file,
        };
        Ok((name, file))
    };
    names.into_iter().map(file).collect()
}

/// The options of one component. `room`: the default of `instances` if it is fewer.
pub(crate) fn options(name: String, file: PathBuf, values: &Values, room: u32) -> Result<Options, Error> {
    let mut options = Options { file, ..Options::default() };
    for row in Options::rows() {
        let all = values.get(&row.name);
        let own = values.get(&row.name.replace("component.", &format!("component.{name}.")));
        let resolved = match (all, own) {
            (Some(all), Some(own)) if all.source.is_stronger_than(&own.source) => all,
            (Some(all), None) => all,
            (_, Some(own)) => own,
            (None, None) => continue,
        };
        if let Some(Err(problem)) = options.set(&row.name, &resolved.value) {
            return Err(Error::Invalid(resolved.refused(&problem)));
        }
        if row.name == "component.instances" && resolved.source == Source::Default {
            options.instances = options.instances.min(room);
        }
    }
    Ok(Options { name, ..options })
}

/// The options of the only component.
pub(crate) fn alone(file: &Path, values: &Values) -> Result<Options, Error> {
    options(name_of(file), file.to_owned(), values, MOST_INSTANCES)
}

/// The settings that the application in a component declares. A file that cannot be read has none: the start says why.
pub(crate) fn declared(file: &Path) -> Vec<Row> {
    let Ok(bytes) = std::fs::read(file) else { return Vec::new() };
    let payloads = wasmparser::Parser::new(0).parse_all(&bytes).map_while(Result::ok);
    let sections = payloads.filter_map(|payload| match payload {
        wasmparser::Payload::CustomSection(custom) if custom.name() == section::NAME => {
            Some(section::rows(custom.data()))
        }
        _ => None,
    });
    sections.flatten().collect()
}

/// What the sources say about these rows: for the component that declares them.
pub(crate) fn of_rows(values: &Values, rows: &[Row]) -> Vec<RawSetting> {
    let set = values.iter().filter(|resolved| resolved.source != Source::Default);
    set.filter(|resolved| rows.iter().any(|row| row.name == resolved.name))
        .map(|resolved| RawSetting {
            name: resolved.name.clone(),
            value: match &resolved.value {
                Value::List(list) => RawValue::List(list.clone()),
                value => RawValue::Text(value.to_string()),
            },
            source: resolved.source.clone(),
        })
        .collect()
}

/// Takes the first argument out, if it is no flag.
pub(crate) fn take_file(arguments: &mut Vec<OsString>) -> Result<Option<PathBuf>, Error> {
    if arguments.first().is_some_and(|first| !first.as_encoded_bytes().starts_with(b"-")) {
        return Ok(Some(arguments.remove(0).into()));
    }
    let is_file = |word: &Path| word.extension().is_some_and(|extension| extension == "wasm" || extension == "cwasm");
    let mut words = arguments.iter().filter(|word| !word.as_encoded_bytes().starts_with(b"-"));
    let Some(file) = words.find(|word| is_file(Path::new(word))) else { return Ok(None) };
    Err(Error::Usage(format!("the component comes first: `skep serve {}`, and then the flags", file.display())))
}

impl Cache {
    /// Opens it. The usual one may be missing; one that was named must work.
    pub(crate) fn open(&self) -> Result<Option<Disk>, Error> {
        let log = |wrong: &Error| tracing::warn!(target: "skep::isolate", "each start compiles again: {wrong}");
        match self {
            Self::None => Ok(None),
            Self::At(folder) => Disk::open(folder).map(Some),
            Self::Usual => Ok(Disk::usual().and_then(|folder| Disk::open(&folder).inspect_err(log).ok())),
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/settings.rs"]
mod tests;
