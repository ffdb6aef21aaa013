//! The package that is built, as cargo describes it.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::options::Options;

/// What to build, and where its source is.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) bin: String,
    pub(crate) manifest: PathBuf,
    /// The compiler names files relative to it.
    pub(crate) workspace: PathBuf,
    pub(crate) target: PathBuf,
    /// The folders of this package and of those that it has by a path.
    pub(crate) roots: Vec<PathBuf>,
}

/// `cargo`, as this command was started by it or as it is found in `PATH`.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Why cargo does not start.
pub(crate) fn no_cargo(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "cargo is not in PATH: install Rust, as https://rustup.rs says".to_owned(),
        _ => format!("cargo does not start: {error}"),
    }
}

impl Package {
    /// The package that the command line names, or that of this folder.
    pub(crate) fn find(options: &Options) -> Result<Self, String> {
        let output = cargo().args(["metadata", "--format-version", "1"]).output().map_err(|error| no_cargo(&error))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let text = text.trim();
            let hint = if text.contains("could not find `Cargo.toml`") {
                "\nrun it in the folder of an application; `skep new FOLDER` begins one"
            } else {
                ""
            };
            return Err(format!("{}{hint}", text.trim_start_matches("error: ")));
        }
        let metadata: Value =
            serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
        let here = std::env::current_dir().map_err(|error| format!("this folder: {error}"))?;
        Self::of(&metadata, options, &here)
    }

    fn of(metadata: &Value, options: &Options, here: &Path) -> Result<Self, String> {
        let members = members(metadata);
        let package = match &options.package {
            Some(name) => named(&members, name)?,
            None => nearest(&members, here)?,
        };
        let bin = bin(package, options.bin.as_deref())?;
        Ok(Self {
            bin,
            manifest: text(package, "manifest_path").into(),
            workspace: text(metadata, "workspace_root").into(),
            target: text(metadata, "target_directory").into(),
            roots: roots(metadata, text(package, "id")),
        })
    }

    /// The folder of the manifest.
    pub(crate) fn folder(&self) -> &Path {
        self.manifest.parent().unwrap_or(&self.workspace)
    }
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value[name].as_array().into_iter().flatten()
}

/// The packages of the workspace that have an executable.
fn members(metadata: &Value) -> Vec<&Value> {
    let ids: HashSet<&str> = list(metadata, "workspace_members").filter_map(Value::as_str).collect();
    let is_member = |package: &&Value| ids.contains(text(package, "id")) && !bins(package).is_empty();
    list(metadata, "packages").filter(is_member).collect()
}

fn bins(package: &Value) -> Vec<&str> {
    let is_bin = |target: &&Value| list(target, "kind").any(|kind| kind == "bin");
    list(package, "targets").filter(is_bin).map(|target| text(target, "name")).collect()
}

fn named<'v>(members: &[&'v Value], name: &str) -> Result<&'v Value, String> {
    let found = members.iter().find(|package| text(package, "name") == name);
    found
        .copied()
        .ok_or_else(|| format!("there is no package \"{name}\" with an executable here; there is {}", names(members)))
}

/// The package whose folder this is, or is in.
fn nearest<'v>(members: &[&'v Value], here: &Path) -> Result<&'v Value, String> {
    let folder = |package: &Value| Path::new(text(package, "manifest_path")).parent().map(Path::to_owned);
    let contains = |package: &&&Value| folder(package).is_some_and(|folder| here.starts_with(folder));
    let found = members.iter().filter(contains).max_by_key(|package| text(package, "manifest_path").len());
    match (found, members) {
        (Some(found), _) | (None, [found]) => Ok(found),
        (None, []) => Err("no package here has an executable: expected src/main.rs".to_owned()),
        _ => Err(format!("which package? Name it with -p: {}", names(members))),
    }
}

fn names(members: &[&Value]) -> String {
    let names: Vec<&str> = members.iter().map(|package| text(package, "name")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn bin(package: &Value, wanted: Option<&str>) -> Result<String, String> {
    let (bins, name) = (bins(package), text(package, "name"));
    let wanted = wanted.or_else(|| package["default_run"].as_str());
    match (wanted, &*bins) {
        (Some(wanted), _) if bins.contains(&wanted) => Ok(wanted.to_owned()),
        (Some(wanted), _) => {
            Err(format!("the package {name} has no executable \"{wanted}\"; it has {}", bins.join(", ")))
        }
        (None, [bin]) => Ok((*bin).to_owned()),
        (None, _) => {
            Err(format!("the package {name} has several executables: name one of them with --bin: {}", bins.join(", ")))
        }
    }
}

/// The folders of this package and of all that it reaches by paths.
fn roots(metadata: &Value, id: &str) -> Vec<PathBuf> {
    let nodes: Vec<&Value> = list(&metadata["resolve"], "nodes").collect();
    let (mut reached, mut next) = (HashSet::from([id]), vec![id]);
    while let Some(id) = next.pop() {
        let node = nodes.iter().find(|node| text(node, "id") == id);
        let dependencies = node.into_iter().flat_map(|node| list(node, "dependencies")).filter_map(Value::as_str);
        next.extend(dependencies.filter(|id| reached.insert(id)));
    }
    let is_source = |package: &&Value| reached.contains(text(package, "id")) && package["source"].is_null();
    let manifests =
        list(metadata, "packages").filter(is_source).map(|package| Path::new(text(package, "manifest_path")));
    manifests.filter_map(|manifest| manifest.parent().map(Path::to_owned)).collect()
}

#[cfg(test)]
#[path = "../tests/unit/package.rs"]
mod tests;
