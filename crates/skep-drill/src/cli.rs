//! The command line of `skep drill`.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use lexopt::prelude::*;

use crate::components::COMPONENT_DRILLS;
use crate::drills::{DRILLS, Drill, Stage};
use crate::report::Report;
use crate::subject::Subject;

/// The command line is wrong; nothing was done.
const BAD_USAGE: u8 = 2;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Asks {
    #[default]
    Drills,
    List,
    Help,
}

/// What a command line asks for.
#[derive(Debug, Default)]
struct Order {
    names: Vec<String>,
    file: Option<PathBuf>,
    component: bool,
    quick: bool,
    asks: Asks,
    path: Option<String>,
    /// For the application.
    rest: Vec<OsString>,
}

/// Runs `skep drill` with these arguments, those behind the word `drill`. The exit code is 0 if all held, 1 if something did not or could not
/// be carried out, 2 if the arguments are wrong.
///
/// ```
/// let code = skep_drill::run(vec!["--list".into()]);
/// assert_eq!(format!("{code:?}"), format!("{:?}", std::process::ExitCode::SUCCESS));
/// ```
#[must_use]
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    match Order::read(arguments).and_then(|order| order.prepare().map(|prepared| (order, prepared))) {
        Ok((order, _)) if order.asks == Asks::Help => print(&help()),
        Ok((order, _)) if order.asks == Asks::List => print(&list()),
        Ok((order, (subject, drills))) => carry_out(&drills, &Stage::new(&subject, order.quick)),
        Err(problem) => {
            eprintln!("skep drill: {problem}\n`skep drill --help` says more.");
            ExitCode::from(BAD_USAGE)
        }
    }
}

impl Order {
    fn read(arguments: Vec<OsString>) -> Result<Self, String> {
        let mut order = Self::default();
        let mut parser = lexopt::Parser::from_args(arguments);
        loop {
            if let Some(mut raw) = parser.try_raw_args()
                && raw.next_if(|argument| argument == "--").is_some()
            {
                order.rest.extend(raw);
                return Ok(order);
            }
            let Some(argument) = parser.next().map_err(|error| error.to_string())? else { return Ok(order) };
            match argument {
                Long("help") | Short('h') => order.asks = Asks::Help,
                Long("list") => order.asks = Asks::List,
                Long("quick") => order.quick = true,
                Long("component") => order.component = true,
                Long("path") => {
                    let path = parser.value().and_then(lexopt::ValueExt::string).map_err(|error| error.to_string())?;
                    if !path.starts_with('/') {
                        return Err(format!("--path {path}: a path begins with a slash"));
                    }
                    order.path = Some(path);
                }
                Value(value) => order.word(value)?,
                other => return Err(other.unexpected().to_string()),
            }
        }
    }

    /// The name of a drill, or a file.
    fn word(&mut self, word: OsString) -> Result<(), String> {
        let path = PathBuf::from(&word);
        let is_file = path.components().count() > 1 || is_component(&path) || word.as_encoded_bytes().contains(&b'/');
        match (is_file, &self.file, word.into_string()) {
            (true, None, _) => self.file = Some(path),
            (true, Some(file), _) => return Err(format!("{} and {}: one at a time", file.display(), path.display())),
            (false, _, Ok(name)) => self.names.push(name),
            (false, _, Err(word)) => return Err(format!("no drill is called {}", word.display())),
        }
        Ok(())
    }

    fn prepare(&self) -> Result<(Subject, Vec<&'static Drill>), String> {
        let component = self.component || self.file.as_deref().is_some_and(is_component);
        let table = if component { COMPONENT_DRILLS } else { DRILLS };
        let subject = self.subject(component)?;
        if self.names.is_empty() {
            return Ok((subject, table.iter().filter(|drill| self.file.is_none() || !drill.needs_ours).collect()));
        }
        let find = |name: &String| {
            let drill = table.iter().find(|drill| drill.name == *name).ok_or_else(|| {
                let names: Vec<&str> = table.iter().map(|drill| drill.name).collect();
                let what = if component { " of components" } else { "" };
                format!(
                    "no drill{what} is called {name:?}; there are {}. A file is named with its folder: ./{name}",
                    names.join(", ")
                )
            })?;
            if drill.needs_ours && self.file.is_some() {
                return Err(format!("{name} needs an application that fails when it is asked to: leave the file out"));
            }
            Ok(drill)
        };
        Ok((subject, self.names.iter().map(find).collect::<Result<_, _>>()?))
    }

    fn subject(&self, component: bool) -> Result<Subject, String> {
        if self.file.is_none() && (self.path.is_some() || !self.rest.is_empty()) {
            return Err("--path and what follows -- are for an application of yours: name its file".into());
        }
        let subject = match &self.file {
            Some(file) if self.component => {
                return Err(format!("--component is the one built in; leave it out to drill {}", file.display()));
            }
            Some(file) => {
                let file = file.canonicalize().map_err(|error| format!("{}: {error}", file.display()))?;
                if component {
                    Ok(Subject::component(&file, self.rest.clone()))
                } else {
                    Ok(Subject::executable(file, self.rest.clone()))
                }
            }
            None if component => Ok(Subject::our_component()),
            None => Subject::ours(),
        };
        let subject = subject.map_err(|error| error.to_string())?;
        Ok(self.path.iter().fold(subject, Subject::path))
    }
}

fn is_component(path: &std::path::Path) -> bool {
    path.extension().is_some_and(|extension| extension == "wasm")
}

fn carry_out(drills: &[&Drill], stage: &Stage<'_>) -> ExitCode {
    let start = Instant::now();
    let mut report = Report::aloud();
    let mut failed = Vec::new();
    for drill in drills {
        if let Err(error) = drill.run(stage, &mut report) {
            eprintln!("  {} could not be carried out: {error}", drill.name);
            failed.push(format!("{}: could not be carried out: {error}\n", drill.name));
        }
    }
    let broken = report.broken() + &failed.concat();
    let promises = report.findings().iter().filter(|finding| !finding.expected.is_empty()).count();
    let seconds = start.elapsed().as_secs();
    if broken.is_empty() {
        return print(&format!("\nall held: {promises} promises in {seconds} s\n"));
    }
    print(&format!("\nnot all held, of {promises} promises in {seconds} s:\n{broken}"));
    ExitCode::FAILURE
}

fn print(text: &str) -> ExitCode {
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

const HELP: &str = "\
usage: skep drill [NAME...] [FLAG...]                       an application that is built in, and fails as it is asked to
       skep drill FILE [NAME...] [FLAG...] [-- ARGUMENT...]  an executable of yours, or a component (.wasm)

Re-enacts disasters under load, and shows what was lost: what was expected, what was, whether it held. Everything happens on this
machine, on ports of its own, in folders that are removed; an executable of yours is copied, and has its data in such a folder.

  --quick       a fifth of the load: a minute instead of five
  --component   the component that is built in, instead of the executable
  --path PATH   what is asked for; it has to be answered with 200 (default: /)
  --list        only name the drills
  --help        this text
  -- ARGUMENT   what your application is started with, besides our own --listen, --data and settings

The exit code is 0 if all held, 1 if not, 2 if the command line is wrong.
";

fn help() -> String {
    format!("{HELP}\n{}", list())
}

fn list() -> String {
    let row = |drill: &Drill| {
        let ours = if drill.needs_ours { " (built in only)" } else { "" };
        format!("  {:<16} {}{ours}\n", drill.name, drill.about)
    };
    let rows = |drills: &[Drill]| drills.iter().map(row).collect::<String>();
    format!("drills:\n{}\nof components:\n{}", rows(DRILLS), rows(COMPONENT_DRILLS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Vec<&'static str>, String> {
        let order = Order::read(words.iter().map(Into::into).collect())?;
        let (_, drills) = order.prepare()?;
        Ok(drills.iter().map(|drill| drill.name).collect())
    }

    #[test]
    fn drills_are_chosen_by_name_and_by_what_is_drilled() {
        assert_eq!(read(&["crash", "--quick", "hang"]), Ok(vec!["crash", "hang"]));
        assert!(read(&[]).unwrap().contains(&"leak"));
        let program = std::env::current_exe().unwrap();
        let of_file = read(&[program.to_str().unwrap(), "--path", "/x", "--", "--workers", "3"]).unwrap();
        assert!(of_file.contains(&"swap") && !of_file.contains(&"leak"), "{of_file:?}");
        assert!(read(&["--component"]).unwrap().contains(&"trap"));
    }

    #[test]
    fn what_is_wrong_with_a_command_line_is_said() {
        let said = |words: &[&str]| read(words).unwrap_err();
        let start = "no drill is called \"crush\"; there are crash, kill, kill-supervisor, swap,";
        assert!(said(&["crush"]).starts_with(start), "{}", said(&["crush"]));
        assert!(said(&["crush"]).ends_with("A file is named with its folder: ./crush"));
        assert_eq!(said(&["./no-such-file"]), "./no-such-file: No such file or directory (os error 2)");
        assert_eq!(said(&["./a", "./b"]), "./a and ./b: one at a time");
        assert_eq!(said(&["--path", "x"]), "--path x: a path begins with a slash");
        assert_eq!(said(&["--quik"]), "invalid option '--quik'");
        assert!(said(&["--path", "/x"]).ends_with("name its file"));
        let program = std::env::current_exe().unwrap();
        assert!(said(&[program.to_str().unwrap(), "leak"]).ends_with("leave the file out"));
    }
}
