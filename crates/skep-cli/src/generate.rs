//! `skep gen`: goes on with what `skep new` began. It writes what a person would have written, where it belongs.
//!
//! Nothing is overwritten. What was written is compiled before it counts; if it does not compile, everything is as it
//! was. Start reading at [`run`].

mod check;
mod deploy;
mod diff;
mod field;
mod form;
mod guard;
mod job;
mod mail;
mod manifest;
mod name;
mod package;
mod plan;
mod samples;
mod scaffold;
mod service;
mod sign_in;
mod source;
mod statements;
mod tables;
mod template;
mod topic;
mod words;
mod written;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use skep_units::nearest;

use crate::db::Target;
use crate::{BAD_USAGE, run_with, say};
use check::Check;
use field::Field;
use name::Name;
use package::Package;
use plan::Plan;
pub(crate) use sign_in::PASSWORDS;

/// What can be generated: name, arguments, what it is.
const KINDS: [(&str, &str, &str); 9] = [
    ("scaffold", "NAME FIELD...", "a table with list, page, form, delete button, link and tests"),
    ("table", "NAME FIELD...", "a table: migration, row, statements and a test"),
    ("service", "NAME [METHOD] [PATH]", "one service with a test"),
    ("form", "NAME FIELD...", "a page with a form, whose answers are a mail"),
    ("mail", "NAME FIELD...", "a function that writes a mail, as text and as HTML"),
    ("job", "NAME FIELD...", "work that is done later, with a test"),
    ("topic", "NAME FIELD...", "messages in a table, and a page that receives new ones, with a test"),
    ("sign-in", "", "accounts: a table, and pages to sign up, in and out, with tests"),
    ("deploy", "", "Dockerfile, a unit of systemd, a site of nginx, CI"),
];

/// Those that an application has once.
const NAMELESS: [&str; 2] = ["deploy", "sign-in"];

/// What the generators of Rails and Phoenix are named, and what is meant here.
const ELSEWHERE: [(&str, &str); 10] = [
    ("auth", "sign-in"),
    ("authentication", "sign-in"),
    ("channel", "topic"),
    ("controller", "service"),
    ("html", "scaffold"),
    ("mailer", "mail"),
    ("model", "table"),
    ("release", "deploy"),
    ("resource", "scaffold"),
    ("schema", "table"),
];

/// Words of Rust, which are no names.
pub(crate) fn is_keyword(word: &str) -> bool {
    words::is_rust(word)
}

/// The names of what can be generated.
pub(crate) fn kinds() -> Vec<&'static str> {
    KINDS.iter().map(|(name, ..)| *name).collect()
}

/// What the command line asks for.
#[derive(Debug, Default)]
struct Wanted {
    words: Vec<String>,
    dry: bool,
    folder: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    run_with("gen", &help(), read(arguments), |wanted| report(generate(&wanted)))
}

fn report(generated: Result<String, Refusal>) -> ExitCode {
    match generated {
        Ok(said) => {
            say(&said);
            ExitCode::SUCCESS
        }
        Err(Refusal { code, reason }) => {
            eprintln!("skep gen: {}", reason.trim_end());
            ExitCode::from(code)
        }
    }
}

/// Why nothing is generated.
struct Refusal {
    code: u8,
    reason: String,
}

impl Refusal {
    /// A name or a type on the command line is wrong.
    fn usage(reason: String) -> Self {
        Self { code: BAD_USAGE, reason }
    }
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Self { code: 1, reason }
    }
}

fn help() -> String {
    let kinds = KINDS.map(|(name, arguments, about)| format!("  {:30} {about}\n", format!("{name} {arguments}")));
    format!(
        "usage: skep gen KIND NAME ... [--dry-run] [--manifest-path FILE]

Go on with an application, in its folder:

{}
A FIELD is NAME:TYPE, such as title:text or published:date?. These are its {}
  --dry-run              show what would be written, and write nothing
  --manifest-path FILE   the Cargo.toml of the application, if it is elsewhere

examples:

  skep gen scaffold post title:text body:lines published:date?
  skep gen scaffold comment post:post text:lines author:email
  skep gen service report GET /reports/{{year}}
  skep gen job clean_up older_than:date

The application is compiled with it. If that fails, all files are as they were.
",
        kinds.concat(),
        field::list(&[]),
    )
}

/// None if help is asked for.
fn read(arguments: Vec<OsString>) -> Result<Option<Wanted>, String> {
    let mut wanted = Wanted::default();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--help" | "-h") => return Ok(None),
            Some("help") if wanted.words.is_empty() => return Ok(None),
            Some("--dry-run" | "-n") => wanted.dry = true,
            Some("--manifest-path") => {
                let file = PathBuf::from(arguments.next().ok_or("--manifest-path needs the path of a Cargo.toml")?);
                wanted.folder = Some(file.parent().unwrap_or(Path::new("")).to_owned());
            }
            Some(flag) if flag.starts_with('-') => {
                let near = nearest(flag, ["--dry-run", "--manifest-path", "--help"]);
                let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
                return Err(format!("there is no flag {flag}{near}"));
            }
            Some(word) => wanted.words.push(word.to_owned()),
            None => return Err(format!("\"{}\" is not UTF-8", argument.display())),
        }
    }
    let Some(kind) = wanted.words.first() else { return Err("what is to be generated?".to_owned()) };
    if !KINDS.iter().any(|(name, ..)| name == kind) {
        let meant = ELSEWHERE.iter().find(|(word, _)| word == kind).map(|(_, meant)| *meant);
        let near = meant.or_else(|| nearest(kind, KINDS.map(|(name, ..)| name)));
        let near = near.map(|near| format!("; did you mean `skep gen {near}`?")).unwrap_or_default();
        return Err(format!("\"{kind}\" is nothing that can be generated{near}"));
    }
    if NAMELESS.contains(&kind.as_str()) {
        let is_alone = wanted.words.len() == 1;
        return if is_alone { Ok(Some(wanted)) } else { Err(format!("`{kind}` has no name and no fields")) };
    }
    if wanted.words.len() < 2 {
        return Err(format!("which name is the {kind} to have?"));
    }
    Ok(Some(wanted))
}

/// Plans, writes and compiles; what is to be said at the end.
fn generate(wanted: &Wanted) -> Result<String, Refusal> {
    let folder = wanted.folder.as_deref().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if wanted.folder.is_some() && !folder.join("Cargo.toml").is_file() {
        return Err(format!("--manifest-path: there is no {}", folder.join("Cargo.toml").display()).into());
    }
    let folder = std::fs::canonicalize(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let package = Package::find(&folder)?;
    let plan = planned(&package, &wanted.words)?;
    if wanted.dry {
        return Ok(plan.diff());
    }
    if plan.has_migration() {
        no_server(&package)?;
    }
    say(&format!("{}\n", plan.summary()));
    let check = Check::begin()?;
    let written = plan.write()?;
    if !plan.is_compiled() {
        written.keep();
        return Ok("Read them before you use them: they have names, addresses and paths.\n".to_owned());
    }
    say("compiling it ...\n");
    if let Err(reason) = check.run(&package) {
        return Err(format!("{reason}\n{}", written.undo()).into());
    }
    written.keep();
    Ok(format!("It compiles. `cargo test` runs its tests, too{}.\n", next(&wanted.words[0])))
}

/// An error if a server runs that would run a migration before it is known whether the application compiles with it.
fn no_server(package: &Package) -> Result<(), String> {
    for folder in [&package.root, &package.workspace] {
        if let Some(socket) = Target::find(folder)?.server() {
            return Err(format!(
                "a server of this application listens on {}, and could run the new migration before it has been compiled: \
                 stop it, and `skep dev`, and start it again afterwards; nothing was written",
                socket.display()
            ));
        }
    }
    Ok(())
}

fn next(kind: &str) -> &'static str {
    match kind {
        "scaffold" | "table" | "topic" => "; the migration runs at the next start",
        "sign-in" => "; `.require::<Signed<Account>>()` asks it of every service",
        "mail" => "; `cx.queue_mail(...)` sends it",
        "job" => "; `cx.later(...).await` enqueues it",
        _ => "",
    }
}

fn planned<'p>(package: &'p Package, words: &[String]) -> Result<Plan<'p>, Refusal> {
    if let [kind] = words {
        let mut plan = Plan::new(package);
        match kind.as_str() {
            "sign-in" => sign_in::sign_in(&mut plan, package)?,
            _ => deploy::deploy(&mut plan, package)?,
        }
        return Ok(plan);
    }
    let [kind, name, rest @ ..] = words else { return Err(Refusal::usage("which name is it to have?".to_owned())) };
    let name = Name::parse(name, kind).map_err(Refusal::usage)?;
    if words::is_module(name.snake()) || words::is_type(&name.camel()) {
        let reason = format!("\"{}\" is the name of something that is there: choose another name", name.snake());
        return Err(Refusal::usage(reason));
    }
    let mut plan = Plan::new(package);
    if kind == "service" {
        service::service(&mut plan, package, &name, rest)?;
        return Ok(plan);
    }
    let tables: Vec<_> = package.tables()?.into_iter().filter(tables::Table::has_id).collect();
    let fields = Field::parse_all(rest, &tables).map_err(Refusal::usage)?;
    if ["table", "scaffold", "topic"].contains(&kind.as_str()) {
        Field::check_columns(&fields).map_err(Refusal::usage)?;
    }
    match kind.as_str() {
        "mail" => mail::mail(&mut plan, &name, &fields)?,
        "job" => job::job(&mut plan, package, &name, &fields)?,
        _ if fields.is_empty() => {
            let (name, types) = (name.with_article(), field::list(&tables));
            return Err(Refusal::usage(format!("{name} needs fields, such as title:text\n{types}")));
        }
        "form" => form::form(&mut plan, package, &name, &fields)?,
        "topic" => topic::topic(&mut plan, package, &name, &fields)?,
        "table" => scaffold::table(&mut plan, package, &name, &fields)?,
        _ => scaffold::scaffold(&mut plan, package, &name, &fields)?,
    }
    Ok(plan)
}

#[cfg(test)]
#[path = "../tests/unit/generate.rs"]
mod tests;
