//! Builds what an experiment needs, or says what is missing and how to get it.
//!
//! It installs nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::experiment::Planned;

/// What must be there before a variant can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// A package of the root workspace.
    Skep(&'static str),
    /// A package of the bench's workspace.
    Peer(&'static str),
    /// A peer with a workspace of its own, for the reason that its manifest gives.
    Alone(&'static str),
    /// A program that Debian has in this package.
    Debian { command: &'static str, package: &'static str },
}

/// The folder that this workspace lives in.
pub(crate) fn bench() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the runner lives in bench/")
}

/// The repository.
pub(crate) fn repository() -> &'static Path {
    bench().parent().expect("bench/ lives in the repository")
}

/// Where the program is when it is ready.
pub(crate) fn executable(need: Need) -> PathBuf {
    match need {
        Need::Skep(name) => repository().join("target/release").join(name),
        Need::Peer(name) | Need::Alone(name) => bench().join("target/release").join(name),
        Need::Debian { command, .. } => installed(command).unwrap_or_else(|| command.into()),
    }
}

/// Makes everything ready that the plan needs.
pub(crate) fn ready(plan: &[Planned], build: bool) -> Result<()> {
    let variants = plan.iter().flat_map(|planned| &planned.variants);
    let mut needs: BTreeSet<Need> = variants.map(|variant| variant.program.need()).collect();
    needs.insert(Need::Debian { command: "wrk", package: "wrk" });
    missing(&needs)?;
    if build {
        cargo(repository(), needs.iter().filter_map(|need| matching(*need, Workspace::Root)))?;
        cargo(bench(), needs.iter().filter_map(|need| matching(*need, Workspace::Bench)))?;
        for need in &needs {
            if let Need::Alone(name) = need {
                cargo(&bench().join("peers").join(name), [*name].into_iter())?;
            }
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq)]
enum Workspace {
    Root,
    Bench,
}

fn matching(need: Need, workspace: Workspace) -> Option<&'static str> {
    match need {
        Need::Skep(name) if workspace == Workspace::Root => Some(name),
        Need::Peer(name) if workspace == Workspace::Bench => Some(name),
        _ => None,
    }
}

/// Builds packages as they would be deployed.
fn cargo(workspace: &Path, packages: impl Iterator<Item = &'static str>) -> Result<()> {
    let mut command = Command::new("cargo");
    command.args(["build", "--release", "--quiet", "--manifest-path"]).arg(workspace.join("Cargo.toml"));
    if workspace != repository() {
        command.arg("--target-dir").arg(bench().join("target"));
    }
    let packages: Vec<_> = packages.flat_map(|package| ["-p", package]).collect();
    if packages.is_empty() {
        return Ok(());
    }
    eprintln!("building {}", packages.join(" ").replace("-p ", ""));
    if command.args(&packages).status()?.success() {
        return Ok(());
    }
    Err(format!("cargo build {} failed (--only NAMES measures the others)", packages.join(" ")).into())
}

/// Names every program that is not installed, in one go.
fn missing(needs: &BTreeSet<Need>) -> Result<()> {
    let absent: Vec<_> = needs.iter().filter_map(|need| absent(*need)).collect();
    if absent.is_empty() {
        return Ok(());
    }
    let (commands, packages): (Vec<_>, Vec<_>) = absent.into_iter().unzip();
    Err(format!(
        "{} not found; on Debian: apt-get install {} (--only NAMES measures the others)",
        commands.join(", "),
        packages.join(" ")
    )
    .into())
}

fn absent(need: Need) -> Option<(&'static str, &'static str)> {
    match need {
        Need::Debian { command, package } if installed(command).is_none() => Some((command, package)),
        _ => None,
    }
}

/// Where a program is installed. Servers live where only root looks.
fn installed(command: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    folders.map(|folder| folder.join(command)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_missing_is_named_at_once_with_its_package() {
        let needs = BTreeSet::from([
            Need::Debian { command: "no-such-a", package: "package-a" },
            Need::Debian { command: "no-such-b", package: "package-b" },
            Need::Debian { command: "sh", package: "dash" },
        ]);
        let error = missing(&needs).unwrap_err().to_string();
        assert!(error.starts_with("no-such-a, no-such-b not found"), "{error}");
        assert!(error.contains("apt-get install package-a package-b"), "{error}");
    }
}
