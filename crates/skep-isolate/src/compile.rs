//! `skep compile`.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use skep::Secret;
use skep::settings::{self as resolved, RawSetting, Resolved};

use crate::code::Code;
use crate::data::{FOLDER, ServerSettings};
use crate::disk::write_whole;
use crate::engine::{Host, Size};
use crate::error::Error;
use crate::options::Options;
use crate::precompiled::pieces;
use crate::reuse::ModuleCache;
use crate::serve::{failed, size};
use crate::services;
use crate::settings;
use crate::snapshot::{PATIENCE, Start, or_cold};
use crate::source::{ComponentFile, Form};
use crate::state::Grants;

/// The settings of a component on which compiled code depends.
const USED: &[&str] = &["module_cache", "env", "dir", "memory", "fuel", "database"];

const HELP: &str = "usage: skep compile FILE [-o OUT] [FLAG...]

Writes the machine code of a component, which `skep serve OUT` runs without compiling. Start-up code runs now, unless
--module-cache says otherwise, and its memory is in OUT. What it reads of --env and --dir is then in it, too: of an
application of Skep, its settings (--env SKEP_BASE_URL=..., skep.toml, --set) and what it keeps of its files (--dir DIR::/data). If it
used the database or a cache, it runs once more where OUT is served, for what it does there. One for PostgreSQL needs the
setting `database` (skep.toml, --set): it starts on a new database beside that one, which is removed again. OUT fits servers of this
version, on processors like this one, that count fuel alike (--fuel). It is run only if nobody but its user, or root,
may write it.

  -o OUT             Where to write it: FILE with the ending .cwasm, unless said.
  --module-cache HOW, --env NAME=VALUE, --dir DIR, --memory SIZE, --fuel N   as for `skep serve`.
";

/// Compiles a component. Takes the arguments after `compile`.
///
/// ```no_run
/// skep_isolate::compile(vec!["app.wasm".into(), "-o".into(), "app.cwasm".into()]);
/// ```
pub fn compile(arguments: Vec<OsString>) -> ExitCode {
    if arguments.is_empty() || arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    match run(arguments) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => failed(&error),
    }
}

fn run(arguments: Vec<OsString>) -> Result<String, Error> {
    let mut arguments = arguments;
    let file = settings::take_file(&mut arguments)?
        .ok_or_else(|| Error::Usage("name the component first: skep compile app.wasm".to_owned()))?;
    let out = take_out(&mut arguments)?.unwrap_or_else(|| file.with_extension("cwasm"));
    let rows = settings::declared(&file);
    let server = skep_server::Server::new(skep::App::new).settings(settings::rows()).settings(rows.iter().cloned());
    let resolved = server.arguments(arguments).resolve()?;
    let values =
        resolved.ok_or_else(|| Error::Usage("skep compile has no such command; skep compile --help".to_owned()))?;
    let is_used = |name: &str| {
        name.strip_prefix("component.").is_some_and(|name| USED.contains(&name))
            || name == "database"
            || rows.iter().any(|row| row.name == name)
    };
    let unused =
        values.iter().find(|resolved| matches!(resolved.source, resolved::Source::Flag(_)) && !is_used(&resolved.name));
    if let Some(Resolved { source, .. }) = unused {
        return Err(Error::Usage(format!(
            "{source} is a setting of `skep serve`: compiled code does not depend on it"
        )));
    }
    let options = Options {
        declared: rows.iter().map(|row| row.name.clone().into_owned()).collect(),
        ..settings::alone(&file, &values)?
    };
    let declared = settings::of_rows(&values, &rows);
    let database =
        values.get("database").map(|resolved| resolved.value.to_string()).filter(|address| !address.is_empty());
    let begun = Instant::now();
    let source = ComponentFile::read(&file)?;
    if source.form != Form::Component {
        return Err(Error::invalid("is compiled already").in_file(&file));
    }
    let (has_image, pieces) =
        make(&source, &options, (declared, database.map(Secret::new))).map_err(|error| error.in_file(&file))?;
    write_whole(&out, &pieces.each_ref().map(Vec::as_slice))
        .map_err(|error| Error::io(format!("{} cannot be written", out.display()), error))?;
    let bytes = fs::metadata(&out).map_or(0, |about| about.len());
    let image = if has_image { ", start-up code in its image" } else { "" };
    Ok(format!("{}: {bytes} bytes in {} ms{image}", out.display(), begun.elapsed().as_millis()))
}

/// Whether start-up code is in its image, and the parts of the file.
fn make(
    source: &ComponentFile,
    options: &Options,
    (settings, database): (Vec<RawSetting>, Option<Secret<String>>),
) -> Result<(bool, [Vec<u8>; 4]), Error> {
    let one = Options { instances: 2, ..options.clone() };
    // Up to three variants of one component are compiled, which differ in few functions; all of that ends with this
    // process.
    let host = Host::new(Size { functions: usize::MAX, ..size(std::iter::once(&one)) })?;
    let start = match options.module_cache {
        ModuleCache::Cached | ModuleCache::Cold => None,
        _ => or_cold(Start::of(&host, None, &source.bytes, options), options)?,
    };
    // The file gets optimised code.
    let options = &Options { baseline: false, ..one };
    let compile = || Code::new(&host, None, source, options);
    let without_image = || Ok((false, pieces(false, &[], written(&compile()?)?, Vec::new())));
    let Some(start) = start else { return without_image() };
    // Start-up code gets a temporary database.
    let nowhere = std::env::temp_dir().join(format!("skep-compile-{}", std::process::id()));
    options.data.begin(ServerSettings::for_check(nowhere, settings, database));
    let mut grants =
        options.grants(&host.clock, services::are_imported(start.code.host.engine(), &start.code.component))?;
    let environment = grants.env.clone();
    grants.env.extend(grants.build(&source.hash));
    let grants = Arc::new(grants);
    let image = start.image(None, &grants, PATIENCE).map(Some).map_err(|error| with_folder(error, &grants));
    let Some(image) = or_cold(image, options)? else { return without_image() };
    // What it did to that database is lost; its memory is in the image.
    let was_used = grants.version.as_ref().is_some_and(|version| version.was_used());
    let start = if was_used { written(&compile()?)? } else { Vec::new() };
    let code = written(&Code::recyclable(&host, None, &image, options)?)?;
    Ok((true, pieces(true, &environment, code, start)))
}

fn written(compiled: &Code) -> Result<Vec<u8>, Error> {
    compiled.component.serialize().map_err(|error| Error::engine("cannot be written", error))
}

/// Explains a failure of start-up code that has no data folder here.
fn with_folder(error: Error, grants: &Grants) -> Error {
    let is_of_files = grants.version.is_some() && grants.dirs.iter().all(|dir| dir.guest != FOLDER);
    if !is_of_files || !error.to_string().contains(FOLDER) {
        return error;
    }
    Error::Invalid(format!(
        "{error}; there is no {FOLDER} while it is compiled: lend start-up code a folder with the files that it wants, --dir \
         DIR::{FOLDER}, or --dir DIR::{FOLDER}::rw if it writes there"
    ))
}

/// Takes `-o OUT` out.
fn take_out(arguments: &mut Vec<OsString>) -> Result<Option<PathBuf>, Error> {
    let Some(at) = arguments.iter().position(|argument| argument == "-o" || argument == "--output") else {
        return Ok(None);
    };
    arguments.remove(at);
    if at == arguments.len() {
        return Err(Error::Usage("-o needs a path".to_owned()));
    }
    Ok(Some(arguments.remove(at).into()))
}
