//! Programs as their users build them: from nothing, beside programs of axum, and after one edit.
//!
//! All is done in a copy of what git has of the tree, in a target folder of its own, in the development profile of the
//! workspaces: lines of source in debug information, as `skep new` writes it. `cargo fetch` comes before.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fs, io};

use super::{Cost, cpu_of_children, median};
use crate::command;

/// A program, built from nothing.
struct Program {
    name: &'static str,
    /// The folder of its workspace.
    workspace: &'static str,
    package: &'static str,
}

const PROGRAMS: [Program; 5] = [
    Program { name: "hello, from nothing", workspace: ".", package: "hello" },
    Program { name: "starter, from nothing", workspace: ".", package: "starter" },
    Program { name: "help-desk, from nothing", workspace: ".", package: "helpdesk" },
    Program { name: "axum's hello, from nothing", workspace: "tools/peers", package: "peer-axum" },
    Program { name: "axum, sqlx, askama, from nothing", workspace: "tools/peers", package: "peer-axum-blog" },
];

/// An edit of the help-desk: in this file, this text becomes another one.
struct Edit {
    name: &'static str,
    file: &'static str,
    before: &'static str,
}

const EDITS: [Edit; 2] = [
    Edit { name: "help-desk, a heading", file: "examples/helpdesk/src/users.rs", before: "h1 { (t.users) }" },
    Edit {
        name: "help-desk, a handler",
        file: "examples/helpdesk/src/users.rs",
        before: "let t = texts(cx.language());",
    },
];

/// Prints medians of this number of rounds.
pub(super) fn run(rounds: u32) -> Result<(), String> {
    let tree = copy().map_err(|error| format!("the tree cannot be copied: {error}"))?;
    for workspace in [".", "tools/peers"] {
        cargo(&tree, workspace, &["fetch", "--quiet"])?;
    }
    println!("{rounds} rounds; medians, in seconds\n\n{:34} {:>8} {:>8}", "", "CPU", "wall");
    for Program { name, workspace, package } in PROGRAMS {
        let build = |_| {
            _ = fs::remove_dir_all(target(&tree, workspace));
            cargo(&tree, workspace, &["build", "--quiet", "-p", package])
        };
        report(name, &(0..rounds).map(build).collect::<Result<Vec<_>, _>>()?);
    }
    cargo(&tree, ".", &["build", "--quiet", "-p", "helpdesk"])?;
    for Edit { name, file, before } in EDITS {
        let path = tree.join(file);
        let source = fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
        if !source.contains(before) {
            return Err(format!("{file} has no `{before}` to edit: change EDITS in xtask/src/compile_time/builds.rs"));
        }
        let edit = |round: u32| {
            let after = match before.strip_suffix('}') {
                Some(start) => format!("{start}\"{round}\" }}"),
                None => format!("let _round = {round}; {before}"),
            };
            let edited = source.replacen(before, &after, 1);
            fs::write(&path, edited).map_err(|error| format!("{file}: {error}"))?;
            cargo(&tree, ".", &["build", "--quiet", "-p", "helpdesk"])
        };
        report(name, &(0..rounds).map(edit).collect::<Result<Vec<_>, _>>()?);
    }
    Ok(())
}

fn report(name: &str, costs: &[Cost]) {
    let of = |pick: fn(&Cost) -> f64| median(costs.iter().map(pick).collect());
    println!("{name:34} {:8.1} {:8.1}", of(|cost| cost.cpu), of(|cost| cost.wall));
}

/// The files of the tree, as they are now, and none of an earlier copy.
fn copy() -> Result<PathBuf, String> {
    let (root, tree) = (command::root(), command::root().join(super::FOLDER).join("tree"));
    if tree.exists() {
        fs::remove_dir_all(&tree).map_err(|error| format!("{}: {error}", tree.display()))?;
    }
    // Without -z, git quotes names.
    let listed = command::output("git", &["ls-files", "-z"])?;
    for file in listed.split_terminator('\0') {
        let (from, to) = (root.join(file), tree.join(file));
        let copied = fs::create_dir_all(to.parent().unwrap_or(&tree)).and_then(|()| copy_one(&from, &to));
        copied.map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(tree)
}

/// A link is one in the copy.
fn copy_one(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_symlink() {
        return fs::copy(from, to).map(drop);
    }
    symlink(fs::read_link(from)?, to)
}

fn target(tree: &Path, workspace: &str) -> PathBuf {
    tree.join(workspace).join("target")
}

fn cargo(tree: &Path, workspace: &str, words: &[&str]) -> Result<Cost, String> {
    let mut cargo = command::program("cargo");
    cargo.current_dir(tree.join(workspace)).args(words).env("CARGO_TARGET_DIR", target(tree, workspace));
    // What CI sets is not what users have.
    for name in ["CARGO_INCREMENTAL", "CARGO_PROFILE_DEV_DEBUG", "CARGO_BUILD_JOBS"] {
        cargo.env_remove(name);
    }
    let (start, before) = (Instant::now(), cpu_of_children());
    let status = cargo.status().map_err(|error| format!("cargo does not start: {error}"))?;
    let cost = Cost { wall: start.elapsed().as_secs_f64(), cpu: cpu_of_children() - before };
    if status.success() { Ok(cost) } else { Err(format!("cargo {} has failed", words.join(" "))) }
}
