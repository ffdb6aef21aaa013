//! `skep compile`.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use crate::compiled::{Compiled, pieces};
use crate::disk::write_whole;
use crate::engine::Host;
use crate::error::Wrong;
use crate::options::Options;
use crate::reuse::ModuleCache;
use crate::serve::size;
use crate::services::{self, FOLDER, Server};
use crate::settings::{self, Line};
use crate::snapshot::{Start, or_cold};
use crate::source::{Form, Source};
use crate::state::Grants;

/// What can be said of an application that is compiled.
const USED: &[&str] = &["module_cache", "env", "dir", "memory", "fuel"];

const HELP: &str = "usage: skep compile FILE [-o OUT] [FLAG...]

Writes the machine code of a component, which `skep serve OUT` runs without compiling. Start-up code runs now, unless
--module-cache says otherwise, and its memory is in OUT. What it reads of --env and --dir is then in it, too: of an
application of Skep, its settings (--env SKEP_BASE_URL=...) and what it keeps of its files (--dir DIR::/data). If it
used the database or a cache, it runs once more where OUT is served, for what it does there. OUT fits servers of this
version, on processors like this one, that count fuel alike (--fuel). It is run only if nobody but its user, or root,
may write it.

  -o OUT             Where to write it: FILE with the ending .cwasm, unless said.
  --module-cache HOW, --env NAME=VALUE, --dir DIR, --memory SIZE, --fuel N   as for `skep serve`.
";

/// Compiles a component. What follows `compile` comes in.
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
        Err(wrong) => {
            let _ = writeln!(std::io::stderr(), "{wrong}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Vec<OsString>) -> Result<String, Wrong> {
    let line = Line::read(arguments)?;
    let without_use = |name: &&str| !USED.contains(name);
    let said = line.said.iter().map(|(row, _)| row.name).find(without_use).map(|name| name.replace('_', "-"));
    let other = line.others.first().map(|(flag, _)| flag.trim_start_matches('-').to_owned());
    if let Some(flag) = said.or(other) {
        return Err(Wrong(format!("--{flag} is said to `skep serve`: compiled code does not depend on it")));
    }
    let file = line.file.clone().ok_or_else(|| Wrong::with("name the component first: skep compile app.wasm"))?;
    let out = out(&line.rest)?.unwrap_or_else(|| file.with_extension("cwasm"));
    let mut options = settings::one(&file);
    line.apply(&mut options)?;
    let begun = Instant::now();
    let source = Source::read(&file)?;
    if source.form != Form::Component {
        return Err(Wrong::with("is compiled already").of(&file));
    }
    let Made { code, start, environment, has_image } = make(&source, &options).map_err(|wrong| wrong.of(&file))?;
    let pieces = pieces(has_image, &environment, &code, &start);
    write_whole(&out, &pieces.each_ref().map(|piece| &**piece))
        .map_err(|error| Wrong(format!("{} cannot be written: {error}", out.display())))?;
    let bytes = fs::metadata(&out).map_or(0, |about| about.len());
    let image = if has_image { ", start-up code in its image" } else { "" };
    Ok(format!("{}: {bytes} bytes in {} ms{image}", out.display(), begun.elapsed().as_millis()))
}

/// What is written.
struct Made {
    code: Vec<u8>,
    /// Code whose start-up code is run once more where it is served; empty if that is not needed.
    start: Vec<u8>,
    environment: Vec<(String, String)>,
    has_image: bool,
}

fn make(source: &Source, options: &Options) -> Result<Made, Wrong> {
    let one = Options { instances: 2, ..options.clone() };
    let host = Host::new(size(std::iter::once(&one)))?;
    let start = match options.module_cache {
        ModuleCache::Snapshot { .. } => or_cold(Start::of(&host, None, &source.bytes, options), options)?,
        ModuleCache::Cached | ModuleCache::Cold => None,
    };
    // What is written is the optimising compiler's.
    let options = &Options { baseline: false, ..one };
    let compile = || Compiled::new(&host, None, source, options);
    let Some(start) = start else { return Made::without_image(&compile()?) };
    // Start-up code has a database that goes away: the one that will be served with is none of this command's business.
    let nowhere = std::env::temp_dir().join(format!("skep-compile-{}", std::process::id()));
    options.kept.begin(Server::that_only_looks(nowhere));
    let mut grants = options.grants(&host.clock, services::asked(&start.code.host, &start.code.component))?;
    let environment = grants.env.clone();
    grants.env.extend(services::build(&grants, &source.hash));
    let grants = Arc::new(grants);
    let image = start.image(None, &grants).map(Some).map_err(|wrong| with_folder(wrong, &grants));
    let Some(image) = or_cold(image, options)? else { return Made::without_image(&compile()?) };
    // What it did to the database, and to whatever else a server keeps, went away; its memory is in the image.
    let was_asked = grants.version.as_ref().is_some_and(|version| version.was_asked());
    let start = if was_asked { written(&compile()?)? } else { Vec::new() };
    let code = written(&Compiled::renewable(&host, None, &image, options)?)?;
    Ok(Made { code, start, environment, has_image: true })
}

impl Made {
    fn without_image(compiled: &Compiled) -> Result<Self, Wrong> {
        Ok(Self { code: written(compiled)?, start: Vec::new(), environment: Vec::new(), has_image: false })
    }
}

fn written(compiled: &Compiled) -> Result<Vec<u8>, Wrong> {
    compiled.component.serialize().map_err(|error| Wrong(format!("cannot be written: {error:#}")))
}

/// Where an application of Skep has its files, this command has none.
fn with_folder(wrong: Wrong, grants: &Grants) -> Wrong {
    let is_of_files = grants.version.is_some() && grants.dirs.iter().all(|dir| dir.guest != FOLDER);
    if !is_of_files || !wrong.0.contains(FOLDER) {
        return wrong;
    }
    Wrong(format!(
        "{}; there is no {FOLDER} while it is compiled: lend start-up code a folder with the files that it wants, --dir \
         DIR::{FOLDER}, or --dir DIR::{FOLDER}::rw if it writes there",
        wrong.0
    ))
}

fn out(rest: &[OsString]) -> Result<Option<PathBuf>, Wrong> {
    let mut rest = rest.iter();
    let mut out = None;
    while let Some(argument) = rest.next() {
        if argument == "-o" || argument == "--output" {
            out = Some(rest.next().map(PathBuf::from).ok_or_else(|| Wrong::with("-o needs a path"))?);
        } else {
            return Err(Wrong(format!("\"{}\" is not expected here; skep compile --help", argument.display())));
        }
    }
    Ok(out)
}
