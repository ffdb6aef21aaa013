//! Installs what is missing.
//!
//! What the system's packages bring needs root; for anybody else the one command to run is printed, and nothing is
//! installed. What is there already is never touched, whatever its version.

use std::fmt;
use std::process::Stdio;

use crate::command;
use crate::needs::{From, Need, python_folder};

/// How a program is built that is run for a second now and then: without the optimisation it asks for (one unit, LTO
/// over all of it), cargo-deny is there after 95 s on two cores, and still answers within one.
const QUICK_BUILD: [(&str, &str); 4] = [
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "false"),
];

/// What decides how something can be installed.
#[derive(Clone, Copy)]
struct Machine {
    is_root: bool,
    has_apt: bool,
    has_rustup: bool,
}

/// One command of an installation.
#[derive(Debug, PartialEq)]
struct Action {
    env: &'static [(&'static str, &'static str)],
    line: Vec<String>,
}

/// Installs those of `needs` that are missing, saying what and why.
///
/// An error if one could not be installed, or is still missing afterwards: then no check is worth running.
pub(crate) fn run<'a>(needs: impl Iterator<Item = &'a Need>) -> Result<(), String> {
    let missing: Vec<_> = needs.filter(|need| !(need.found)()).collect();
    if missing.is_empty() {
        println!("setup: nothing is missing");
        return Ok(());
    }
    for need in &missing {
        println!("setup: {} is missing: {}", need.name, need.why);
    }
    for action in plan(&missing, Machine::here())? {
        println!("setup: {action}");
        action.run()?;
    }
    match missing.iter().find(|need| !(need.found)()) {
        Some(need) => Err(format!("{} was installed, and is still not found; is its folder in PATH?", need.name)),
        None => Ok(()),
    }
}

/// The commands that install what is missing, or what the person must do first.
fn plan(missing: &[&Need], machine: Machine) -> Result<Vec<Action>, String> {
    let mut actions = debian(missing, machine)?;
    for need in missing {
        let (env, line): (&[_], Vec<&str>) = match need.from {
            From::Debian(_) => continue,
            From::Python(name, version) => {
                actions.extend(python(name, version));
                continue;
            }
            From::Go(package, version, folder) => {
                actions.push(go(package, version, folder));
                continue;
            }
            From::Component(name) => (&[], vec!["rustup", "component", "add", name]),
            From::Target(name) => (&[], vec!["rustup", "target", "add", name]),
            From::Npm(package, folder) => (&[], npm(package, folder)),
            From::Crate(name, version) => {
                (&QUICK_BUILD, vec!["cargo", "install", "--locked", "--quiet", name, "--version", version])
            }
        };
        if line[0] == "rustup" && !machine.has_rustup {
            return Err(format!(
                "rustup is not here; install {} the way you installed Rust, then start again",
                need.name
            ));
        }
        actions.push(action(env, line));
    }
    Ok(actions)
}

/// Nothing of the package is run while it is installed: what it would fetch then, `cargo xtask setup` brings.
fn npm(package: &'static str, folder: &'static str) -> Vec<&'static str> {
    let mut install = vec!["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
    install.extend(["--prefix", folder, package]);
    install
}

fn action(env: &'static [(&'static str, &'static str)], line: impl IntoIterator<Item = impl Into<String>>) -> Action {
    Action { env, line: line.into_iter().map(Into::into).collect() }
}

/// A folder with a Python of its own, and the package in it: what the system has is left alone.
fn python(name: &str, version: &str) -> [Action; 2] {
    let folder = python_folder(name);
    let (python, package) = (format!("{folder}/bin/python"), format!("{name}=={version}"));
    [
        action(&[], ["python3", "-m", "venv", "--clear", &folder]),
        action(&[], [&*python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", &package]),
    ]
}

/// Without cgo, and so without a C compiler. Go takes no path that is relative.
fn go(package: &str, version: &str, folder: &str) -> Action {
    let folder = format!("GOBIN={}", command::root().join(folder).display());
    action(&[], ["env", &folder, "CGO_ENABLED=0", "go", "install", &format!("{package}@{version}")])
}

fn debian(missing: &[&Need], machine: Machine) -> Result<Vec<Action>, String> {
    let mut packages = Vec::new();
    for need in missing {
        if let From::Debian(names) = need.from {
            packages.extend_from_slice(names);
        }
    }
    let list = packages.join(" ");
    match machine {
        _ if packages.is_empty() => Ok(Vec::new()),
        Machine { has_apt: false, .. } => {
            Err(format!("apt-get is not here; install what Debian calls {list}, then start again"))
        }
        Machine { is_root: false, .. } => Err(format!(
            "only root can install that. Run this, then start again:\n\n    sudo sh -c 'apt-get update && apt-get install \
             --yes --no-install-recommends {list}'\n"
        )),
        _ => Ok(apt(packages)),
    }
}

fn apt(packages: Vec<&'static str>) -> Vec<Action> {
    let mut install = vec!["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=120", "install", "--yes"];
    install.push("--no-install-recommends");
    install.extend(packages);
    let env = &[("DEBIAN_FRONTEND", "noninteractive")];
    vec![action(env, ["apt-get", "-qq", "update"]), action(env, install)]
}

impl Machine {
    fn here() -> Self {
        Self {
            is_root: command::output("id", &["-u"]).is_ok_and(|id| id.trim() == "0"),
            has_apt: command::on_path("apt-get"),
            has_rustup: command::on_path("rustup"),
        }
    }
}

impl Action {
    fn run(&self) -> Result<(), String> {
        // A path counts from the root of the repository, where the program is to run.
        let name = &self.line[0];
        let path = command::root().join(name);
        let mut program = command::program(if name.contains('/') { path.to_str().unwrap_or(name) } else { name });
        program.args(&self.line[1..]).envs(self.env.iter().copied());
        // dpkg speaks at length of each package it unpacks; what goes wrong it says on stderr.
        if self.line[0] == "apt-get" {
            program.stdout(Stdio::null());
        }
        match program.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("`{self}` failed: {status}; is the network there?")),
            Err(error) => Err(format!("{} does not start: {error}", self.line[0])),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::needs::NEEDS;

    const ROOT: Machine = Machine { is_root: true, has_apt: true, has_rustup: true };

    fn missing(names: &[&str]) -> Vec<&'static Need> {
        NEEDS.iter().filter(|need| names.contains(&need.name)).collect()
    }

    fn lines(names: &[&str], machine: Machine) -> Result<Vec<String>, String> {
        plan(&missing(names), machine).map(|actions| actions.iter().map(Action::to_string).collect())
    }

    #[test]
    fn all_packages_come_in_one_go_after_one_update() {
        let lines = lines(&["a C compiler", "Chromium"], ROOT).unwrap();
        assert_eq!(lines[0], "apt-get -qq update");
        assert!(lines[1].ends_with("gcc libc6-dev chromium"), "{}", lines[1]);
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn parts_of_the_toolchain_come_from_rustup() {
        let lines = lines(&["clippy", "the target wasm32-wasip2"], ROOT).unwrap();
        assert_eq!(lines, ["rustup component add clippy", "rustup target add wasm32-wasip2"]);
    }

    #[test]
    fn packages_of_npm_go_to_a_folder_of_the_project_and_run_nothing() {
        let lines = lines(&["the Nu Html Checker"], Machine { is_root: false, ..ROOT }).unwrap();
        assert_eq!(lines.len(), 1);
        assert!(lines[0].contains("--ignore-scripts") && lines[0].contains("--prefix target/tools/"), "{}", lines[0]);
    }

    #[test]
    fn a_person_who_is_not_root_gets_the_command_to_run() {
        let error = lines(&["Chromium"], Machine { is_root: false, ..ROOT }).unwrap_err();
        assert!(error.contains("sudo sh -c 'apt-get update && apt-get install"), "{error}");
    }

    #[test]
    fn what_needs_no_root_is_installed_without() {
        assert!(lines(&["clippy", "cargo-deny"], Machine { is_root: false, ..ROOT }).is_ok());
    }

    #[test]
    fn a_machine_without_the_installers_gets_a_list_of_packages() {
        let error = lines(&["Chromium"], Machine { has_apt: false, ..ROOT }).unwrap_err();
        assert!(error.contains("install what Debian calls chromium"), "{error}");
        let error = lines(&["clippy"], Machine { has_rustup: false, ..ROOT }).unwrap_err();
        assert!(error.contains("install clippy the way you installed Rust"), "{error}");
    }

    #[test]
    fn what_python_runs_is_pinned_and_has_a_folder_of_its_own() {
        let lines = lines(&["openapi-spec-validator"], Machine { is_root: false, ..ROOT }).unwrap();
        assert_eq!(lines[0], "python3 -m venv --clear target/tools/openapi-spec-validator");
        assert!(lines[1].starts_with("target/tools/openapi-spec-validator/bin/python -m pip install "), "{}", lines[1]);
        assert!(lines[1].ends_with(" openapi-spec-validator==0.9.0"), "{}", lines[1]);
    }

    #[test]
    fn what_go_builds_is_pinned_and_has_a_folder_of_its_own() {
        let lines = lines(&["h2spec"], Machine { is_root: false, ..ROOT }).unwrap();
        assert_eq!(lines.len(), 1);
        assert!(lines[0].contains("/target/tools/h2spec-2.6.0 CGO_ENABLED=0 go install "), "{}", lines[0]);
        assert!(lines[0].ends_with("/h2spec@v0.0.0-20200804131034-70ac22940108"), "{}", lines[0]);
    }

    #[test]
    fn what_cargo_builds_is_pinned() {
        assert_eq!(
            lines(&["cargo-deny"], ROOT).unwrap(),
            ["cargo install --locked --quiet cargo-deny --version 0.20.2"]
        );
    }
}
