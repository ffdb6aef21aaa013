//! The command line of `skep drill`.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use skep_drill::{COMPONENT_DRILLS, DRILLS, Drill, Report, Stage, Subject, together};

/// The command line is wrong; nothing was done.
const BAD_USAGE: u8 = 2;

const NOT_TOGETHER: &str = "--together is for executables: drills of components have no hostile clients";

/// Re-enact disasters under load, and show what was lost.
///
/// Drills an application that is built in and fails on request, an executable of yours, or a component (.wasm). Shows
/// what was expected, what happened, and whether the promise held. Everything happens on this machine, on ports of its
/// own, in folders that are removed; an executable of yours is copied, and has its data in such a folder.
#[derive(Debug, Parser)]
#[command(
    name = "skep-drill",
    bin_name = "skep drill",
    override_usage = "skep drill [DRILL]... [OPTIONS]\n       skep drill FILE [DRILL]... [OPTIONS] [-- ARGUMENT...]",
    max_term_width = 120,
    after_help = after_help()
)]
struct Order {
    /// Drills, and a file to drill, named with its folder: ./app. Without a drill: all
    #[arg(value_name = "FILE|DRILL")]
    words: Vec<OsString>,
    /// A fifth of the load: a minute instead of five
    #[arg(long)]
    quick: bool,
    /// Let the hostile clients of all drills that have some come at the same time, for this long, such as 10m
    #[arg(long, value_name = "TIME", value_parser = skep_units::parse_duration)]
    together: Option<Duration>,
    /// Drill the component that is built in, instead of the executable
    #[arg(long)]
    component: bool,
    /// Path to request; its status has to be 200 [default: /]
    #[arg(long, value_parser = path)]
    path: Option<String>,
    /// Only list the drills
    #[arg(long)]
    list: bool,
    /// Arguments of your application, besides our own --listen, --data and settings
    #[arg(last = true, value_name = "ARGUMENT")]
    rest: Vec<OsString>,
}

fn path(text: &str) -> Result<String, String> {
    if text.starts_with('/') { Ok(text.to_owned()) } else { Err("a path begins with a slash".into()) }
}

/// Runs `skep drill` with these arguments, those behind the word `drill`. The exit code is 0 if all held, 1 if
/// something did not or could not be carried out, 2 if the arguments are wrong.
pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    let name = OsString::from("skep drill");
    let order = match Order::try_parse_from([name].into_iter().chain(arguments)) {
        Ok(order) => order,
        Err(error) => {
            // Where nobody reads it, there is nobody to tell.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(BAD_USAGE) } else { ExitCode::SUCCESS };
        }
    };
    if order.list {
        return print(&list());
    }
    match order.prepare() {
        Ok((subject, drills)) => carry_out(&drills, order.together, &Stage::new(&subject, order.quick)),
        Err(problem) => {
            eprintln!("skep drill: {problem}\n`skep drill --help` says more.");
            ExitCode::from(BAD_USAGE)
        }
    }
}

impl Order {
    /// The file, and the names of drills.
    fn words(&self) -> Result<(Option<&Path>, Vec<&str>), String> {
        let (mut file, mut names) = (None::<&Path>, Vec::new());
        for word in &self.words {
            let path = Path::new(word);
            let is_file = is_component(path) || word.as_encoded_bytes().contains(&b'/');
            match (file, word.to_str()) {
                (None, _) if is_file => file = Some(path),
                (Some(file), _) if is_file => {
                    return Err(format!("{} and {}: one at a time", file.display(), path.display()));
                }
                (_, Some(name)) => names.push(name),
                (_, None) => return Err(format!("no drill is called {}", path.display())),
            }
        }
        Ok((file, names))
    }

    fn prepare(&self) -> Result<(Subject, Vec<&'static Drill>), String> {
        let (file, names) = self.words()?;
        let component = self.component || file.is_some_and(is_component);
        let table = if component { COMPONENT_DRILLS } else { DRILLS };
        let subject = self.subject(file, component)?;
        if names.is_empty() {
            let fits = |drill: &&Drill| {
                (file.is_none() || !drill.needs_ours) && (self.together.is_none() || drill.is_hostile())
            };
            let drills: Vec<_> = table.iter().filter(fits).collect();
            return if drills.is_empty() { Err(NOT_TOGETHER.into()) } else { Ok((subject, drills)) };
        }
        let find = |name: &&str| {
            let drill = table.iter().find(|drill| drill.name == *name).ok_or_else(|| {
                let names: Vec<&str> = table.iter().map(|drill| drill.name).collect();
                let what = if component { " of components" } else { "" };
                let near = skep_units::nearest(name, names.iter().copied());
                let hint = near.map_or_else(
                    || format!("there are {}.", names.join(", ")),
                    |near| format!("did you mean {near:?}?"),
                );
                format!("no drill{what} is called {name:?}; {hint} A file is named with its folder: ./{name}")
            })?;
            if drill.needs_ours && file.is_some() {
                return Err(format!("{name} needs an application that fails when it is asked to: leave the file out"));
            }
            if self.together.is_some() && !drill.is_hostile() {
                return Err(format!("{name} needs a server of its own: leave it out, or --together"));
            }
            Ok(drill)
        };
        Ok((subject, names.iter().map(find).collect::<Result<_, _>>()?))
    }

    fn subject(&self, file: Option<&Path>, component: bool) -> Result<Subject, String> {
        if file.is_none() && (self.path.is_some() || !self.rest.is_empty()) {
            return Err("--path and what follows -- are for an application of yours: name its file".into());
        }
        let subject = match file {
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

fn is_component(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "wasm")
}

fn carry_out(drills: &[&Drill], at_once: Option<Duration>, stage: &Stage<'_>) -> ExitCode {
    let start = Instant::now();
    let mut report = Report::aloud();
    let mut failed = Vec::new();
    let mut note = |name: &str, result: skep_drill::Result<()>| {
        if let Err(error) = result {
            eprintln!("  {name} could not be carried out: {error}");
            failed.push(format!("{name}: could not be carried out: {error}\n"));
        }
    };
    match at_once {
        Some(time) => note("together", together(drills, time, stage, &mut report)),
        None => drills.iter().for_each(|drill| note(drill.name, drill.run(stage, &mut report))),
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

fn after_help() -> String {
    format!("Exit code: 0 if all held, 1 if not, 2 if the command line is wrong.\n\n{}", list())
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
        let order = Order::try_parse_from(["drill"].iter().chain(words)).map_err(|error| error.to_string())?;
        let (_, drills) = order.prepare()?;
        Ok(drills.iter().map(|drill| drill.name).collect())
    }

    #[test]
    fn the_command_line_is_well_formed() {
        <Order as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn names_and_the_kind_of_application_choose_the_drills() {
        assert_eq!(read(&["crash", "--quick", "hang"]), Ok(vec!["crash", "hang"]));
        assert!(read(&[]).unwrap().contains(&"leak"));
        let program = std::env::current_exe().unwrap();
        let of_file = read(&[program.to_str().unwrap(), "--path", "/x", "--", "--workers", "3"]).unwrap();
        assert!(of_file.contains(&"swap") && !of_file.contains(&"leak"), "{of_file:?}");
        assert!(read(&["--component"]).unwrap().contains(&"trap"));
        let together = read(&["--together", "10m"]).unwrap();
        assert!(together.contains(&"zero-windows") && !together.contains(&"crash"), "{together:?}");
    }

    #[test]
    fn what_is_wrong_with_a_command_line_is_said() {
        let said = |words: &[&str]| read(words).unwrap_err();
        let near = "no drill is called \"crush\"; did you mean \"crash\"? A file is named with its folder: ./crush";
        assert_eq!(said(&["crush"]), near);
        let start = "no drill is called \"everything\"; there are crash, kill, kill-supervisor, swap,";
        assert!(said(&["everything"]).starts_with(start), "{}", said(&["everything"]));
        assert_eq!(said(&["./no-such-file"]), "./no-such-file: No such file or directory (os error 2)");
        assert_eq!(said(&["./a", "./b"]), "./a and ./b: one at a time");
        assert!(said(&["--path", "x"]).contains("a path begins with a slash"));
        assert!(said(&["--quik"]).contains("'--quick'"));
        assert!(said(&["--path", "/x"]).ends_with("name its file"));
        assert!(said(&["--together", "10m", "crash"]).ends_with("leave it out, or --together"));
        assert!(said(&["--together", "10m", "--component"]).starts_with("--together is for executables"));
        assert!(said(&["--together", "soon"]).contains("expected a number and a unit"));
        let program = std::env::current_exe().unwrap();
        assert!(said(&[program.to_str().unwrap(), "leak"]).ends_with("leave the file out"));
    }
}
