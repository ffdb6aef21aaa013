//! Builds what an experiment needs, and leaves out whose needs are missing.
//!
//! It installs nothing without --install; then Debian's packages only.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use crate::need::Need;

use crate::Result;
use crate::experiment::{LeftOut, Planned};
use crate::need::{Made, installed};

mod make;

/// The folder of this workspace.
pub(crate) fn tools() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the runner is in tools/")
}

/// The repository.
pub(crate) fn repository() -> &'static Path {
    tools().parent().expect("tools/ is in the repository")
}

/// Where the program is when it is ready.
pub(crate) fn executable(need: Need) -> PathBuf {
    match need {
        Need::Skep(name) => repository().join("target/release").join(name),
        Need::Cli => repository().join("target/release/skep-wasm"),
        Need::Wasmtime => tools().join("target/tools/bin/wasmtime"),
        Need::Peer(name) | Need::Ours(name) => tools().join("target/release").join(name),
        Need::Made(made) => made.result(),
        Need::Debian { command, .. } | Need::Program { command, .. } => {
            installed(command).unwrap_or_else(|| command.into())
        }
        Need::File { file, .. } => file.into(),
        Need::Folder { parent, .. } => parent.into(),
    }
}

/// Makes everything ready that the plan needs, and takes out of the plan who lacks something.
///
/// # Errors
///
/// A package of cargo that does not build: then the tree is broken, and figures of the rest would hide it.
pub(crate) fn ready(plan: &mut Vec<Planned>, build: bool, install: bool) -> Result<()> {
    if install {
        install_missing(&needs(plan))?;
    }
    let needs = needs(plan);
    let mut broken: BTreeMap<Need, String> = needs.iter().filter_map(|need| Some((*need, need.missing()?))).collect();
    if build {
        cargo(repository(), needs.iter().filter_map(|need| matching(*need, Workspace::Root)))?;
        cargo(tools(), needs.iter().filter_map(|need| matching(*need, Workspace::Tools)))?;
        cargo(&tools().join("peers"), needs.iter().filter_map(|need| matching(*need, Workspace::Peers)))?;
        for need in &needs {
            match need {
                Need::Made(made) if need.with_tools().iter().all(|tool| !broken.contains_key(tool)) => {
                    broken.extend(make::make(*made).err().map(|error| (*need, error.to_string())));
                }
                _ => {}
            }
        }
    }
    for need in &needs {
        if matches!(need, Need::Made(_)) && !executable(*need).exists() {
            broken.entry(*need).or_insert_with(|| "it is not built".into());
        }
    }
    leave_out(plan, &broken);
    if plan.is_empty() { Err("nobody is left to measure".into()) } else { Ok(()) }
}

/// Builds a peer, if anything is to be built.
pub(crate) fn peer(name: &'static str, build: bool) -> Result<()> {
    if build { cargo(&tools().join("peers"), [name].into_iter()) } else { Ok(()) }
}

/// All that the plan needs, the tools among it.
fn needs(plan: &[Planned]) -> BTreeSet<Need> {
    let variants = plan.iter().flat_map(|planned| &planned.variants);
    variants.flat_map(|variant| variant.program.needs()).flat_map(Need::with_tools).collect()
}

/// Moves those who lack something from the variants to those left out, with what they lack.
fn leave_out(plan: &mut Vec<Planned>, broken: &BTreeMap<Need, String>) {
    for planned in plan.iter_mut() {
        let lacks = |variant: &crate::experiment::Variant| {
            let mut needs = variant.program.needs().into_iter().flat_map(Need::with_tools);
            needs.find_map(|need| broken.get(&need)).cloned()
        };
        let (left, ready): (Vec<_>, Vec<_>) = planned.variants.iter().partition(|variant| lacks(variant).is_some());
        for variant in left {
            let why = lacks(&variant).unwrap_or_default();
            eprintln!("{}: {} is left out: {why}", planned.experiment.name, variant.name);
            planned.left_out.push(LeftOut { name: variant.name.into(), why });
        }
        planned.variants = ready;
    }
    plan.retain(|planned| !planned.variants.is_empty());
}

/// Builds wasmtime if it is missing, and installs Debian's packages that are, as root.
fn install_missing(needs: &BTreeSet<Need>) -> Result<()> {
    if needs.contains(&Need::Wasmtime) && Need::Wasmtime.missing().is_some() {
        make::wasmtime()?;
    }
    let packages: BTreeSet<&str> = needs.iter().filter_map(|need| need.absent()).map(|(_, package)| package).collect();
    if packages.is_empty() {
        return Ok(());
    }
    eprintln!("installing {}", packages.iter().copied().collect::<Vec<_>>().join(" "));
    let mut command = Command::new("apt-get");
    command.args(["install", "--yes", "--quiet", "--no-install-recommends"]).args(&packages);
    let status = command.env("DEBIAN_FRONTEND", "noninteractive").status();
    let status = status.map_err(|error| format!("apt-get does not start: {error}; --install is for Debian"))?;
    if status.success() { Ok(()) } else { Err("apt-get install failed; it must be run as root".into()) }
}

#[derive(Clone, Copy, PartialEq)]
enum Workspace {
    Root,
    Tools,
    Peers,
}

fn matching(need: Need, workspace: Workspace) -> Option<&'static str> {
    match need {
        Need::Skep(name) if workspace == Workspace::Root => Some(name),
        Need::Cli if workspace == Workspace::Root => Some("skep-wasm"),
        Need::Peer(name) if workspace == Workspace::Peers => Some(name),
        Need::Ours(name) if workspace == Workspace::Tools => Some(name),
        _ => None,
    }
}

/// Builds packages as they would be deployed.
fn cargo(workspace: &Path, packages: impl Iterator<Item = &'static str>) -> Result<()> {
    let mut command = Command::new("cargo");
    command.args(["build", "--release", "--quiet", "--manifest-path"]).arg(workspace.join("Cargo.toml"));
    if workspace != repository() {
        command.arg("--target-dir").arg(tools().join("target"));
    }
    let packages: Vec<_> = packages.flat_map(|package| ["-p", package]).collect();
    if packages.is_empty() {
        return Ok(());
    }
    if packages.contains(&"hello") {
        command.args(["--features", "hello/full"]);
    }
    eprintln!("building {}", packages.join(" ").replace("-p ", ""));
    if command.args(&packages).status()?.success() {
        return Ok(());
    }
    Err(format!("cargo build {} failed (--only NAMES measures the others)", packages.join(" ")).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment;

    #[test]
    fn who_lacks_something_is_left_out_and_the_others_stay() {
        let mut plan = experiment::plan(&["static-13".into()], &[]).unwrap();
        let broken = BTreeMap::from([(Need::debian("lighttpd", "lighttpd"), "lighttpd not found".to_owned())]);
        leave_out(&mut plan, &broken);
        let names: Vec<_> = plan[0].variants.iter().map(|variant| variant.name).collect();
        assert_eq!(names, ["skep", "nginx", "nginx-tuned"]);
        let left: Vec<_> = plan[0].left_out.iter().map(|left| (&*left.name, &*left.why)).collect();
        assert_eq!(left, [("lighttpd", "lighttpd not found"), ("lighttpd-tuned", "lighttpd not found")]);
    }

    #[test]
    fn a_plan_of_whom_all_is_missing_is_empty() {
        let mut plan = experiment::plan(&["static-13".into()], &["nginx".into()]).unwrap();
        leave_out(&mut plan, &BTreeMap::from([(Need::debian("nginx", "nginx-light"), "not found".to_owned())]));
        assert!(plan.is_empty());
    }
}
