//! `skep routes`: the table of routes of an application, which its own executable prints.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;

use crate::run_with;

const HELP: &str = "\
usage: skep routes [--json] [--manifest-path FILE] [-- ARGUMENT...]

List the routes of the application in this folder, sorted by path: method, path, service, guards, file and line. The
application is built for it, and not started.

  --json                 for programs
  --manifest-path FILE   the Cargo.toml of an application elsewhere
  -- ARGUMENT...         arguments for `cargo run`, such as `-p shop`
";

#[derive(Default)]
struct Wanted {
    json: bool,
    cargo: Vec<OsString>,
}

pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    run_with("routes", HELP, read(arguments), |wanted| show(&wanted))
}

fn show(wanted: &Wanted) -> ExitCode {
    match routes(wanted) {
        Ok(routes) if wanted.json => println!("{}", Value::from(routes)),
        Ok(routes) => print!("{}", table(&routes)),
        Err(error) => {
            eprintln!("skep routes: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn read(arguments: Vec<OsString>) -> Result<Option<Wanted>, String> {
    let mut wanted = Wanted::default();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--help" | "-h") => return Ok(None),
            Some("--json") => wanted.json = true,
            Some("--manifest-path") => {
                let file = arguments.next().ok_or("--manifest-path needs the path of a Cargo.toml")?;
                wanted.cargo.extend([argument, file]);
            }
            Some("--") => wanted.cargo.extend(arguments.by_ref()),
            _ => return Err(format!("there is no argument \"{}\"", argument.display())),
        }
    }
    Ok(Some(wanted))
}

/// What the application says, sorted by path and method.
fn routes(wanted: &Wanted) -> Result<Vec<Value>, String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["run", "--quiet"]).args(&wanted.cargo).args(["--", "--routes", "--json"]).stderr(Stdio::inherit());
    let output = cargo.output().map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err("the application does not say its routes, for the reason above".to_owned());
    }
    let routes = serde_json::from_slice::<Vec<Value>>(&output.stdout);
    let mut routes = routes.map_err(|error| format!("what the application says is not JSON: {error}"))?;
    routes.sort_by_key(|route| (text(route, "path"), text(route, "method")));
    Ok(routes)
}

fn text(route: &Value, name: &str) -> String {
    route[name].as_str().unwrap_or_default().to_owned()
}

/// A type without the modules that it is in: `Signed<Account>`.
fn short(name: &str) -> String {
    let words = name.split_inclusive(['<', '>', ',', '(', ')', ' ']);
    words.map(|word| word.rsplit("::").next().unwrap_or(word)).collect()
}

fn table(routes: &[Value]) -> String {
    let cells = routes.iter().map(|route| {
        let guards: Vec<&str> = route["guards"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let guards: Vec<String> = guards.into_iter().map(short).collect();
        let open = route["open"].as_str().map(|reason| format!("open: {reason}"));
        let [method, path, target] = ["method", "path", "target"].map(|name| text(route, name));
        let place = match route["line"].as_u64() {
            Some(line) => format!("{}:{line}", text(route, "file")),
            None => String::new(),
        };
        [method, path, target, place, open.unwrap_or_else(|| guards.join(", "))]
    });
    let cells: Vec<_> = cells.collect();
    let width = |at: usize| cells.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(width);
    cells.iter().fold(String::new(), |mut table, [method, path, target, place, guards]| {
        let [a, b, c, d] = widths;
        let line = format!("{method:a$}  {path:b$}  {target:c$}  {place:d$}  {guards}");
        _ = writeln!(table, "{}", line.trim_end());
        table
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_a_line() {
        let routes = serde_json::json!([
            { "method": "GET", "path": "/", "target": "Home", "guards": [], "open": "it leads on", "file": "src/a.rs", "line": 7 },
            { "method": "POST", "path": "/notes", "target": "Save", "guards": ["skep_people::Signed<shop::a::Account>"], "file": "src/note.rs", "line": 12 },
            { "method": "GET", "path": "/static/{*path}", "target": "embedded", "guards": [] },
        ]);
        let expected = "GET   /                Home      src/a.rs:7      open: it leads on
POST  /notes           Save      src/note.rs:12  Signed<Account>
GET   /static/{*path}  embedded\n";
        assert_eq!(table(routes.as_array().unwrap()), expected);
    }
}
