//! The application in whose folder the command runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use skep_sql_lock::Dialect;

use super::name::Name;
use super::source;
use super::tables::{self, Table};

/// A package with a library, in which services are.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) root: PathBuf,
    pub(super) name: String,
    /// The name of its library in `use`.
    pub(super) library: String,
    pub(super) edition: String,
    pub(super) dialect: Dialect,
    /// The names of its executables.
    executables: Vec<String>,
    /// Where `target` and `Cargo.lock` are.
    pub(super) workspace: PathBuf,
}

impl Package {
    /// The package of a folder: that of the nearest `Cargo.toml` above.
    pub(super) fn find(folder: &Path) -> Result<Self, String> {
        let root = folder.ancestors().find(|folder| folder.join("Cargo.toml").is_file());
        let root =
            root.ok_or("there is no Cargo.toml here: run it in the folder of an application, which `skep new` makes")?;
        let manifest = root.join("Cargo.toml");
        let metadata = metadata(&manifest)?;
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let packages = metadata["packages"].as_array().into_iter().flatten();
        let package = packages.into_iter().find(|package| Path::new(&text(&package["manifest_path"])) == manifest);
        let package = package.ok_or_else(|| {
            format!("{} is a workspace: run it in the folder of the application's package", root.display())
        })?;
        let source = fs::read_to_string(&manifest).map_err(|error| format!("{}: {error}", manifest.display()))?;
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        if !dependencies.into_iter().any(|one| one["name"] == "skep") {
            return Err(format!("{} does not depend on skep: it is no application of Skep", manifest.display()));
        }
        let is_library = |target: &&serde_json::Value| target["src_path"] == text_of(&root.join("src/lib.rs"));
        let library = package["targets"].as_array().into_iter().flatten().find(is_library);
        let library = library
            .ok_or("src/lib.rs is missing: put the application there, as `skep new` does, and let `main` run it")?;
        let targets = package["targets"].as_array().into_iter().flatten();
        let executables = targets.filter(|target| target["kind"][0] == "bin").map(|target| text(&target["name"]));
        let executables = executables.collect();
        Ok(Self {
            executables,
            root: root.to_owned(),
            name: text(&package["name"]),
            library: text(&library["name"]).replace('-', "_"),
            edition: text(&package["edition"]),
            dialect: skep_sql_lock::dialect(&source)?,
            workspace: text(&metadata["workspace_root"]).into(),
        })
    }

    /// The name of the executable: the only one, or the one with the name of the package.
    pub(super) fn executable(&self) -> Result<String, String> {
        match self.executables.as_slice() {
            [one] => Ok(one.clone()),
            several if several.contains(&self.name) => Ok(self.name.clone()),
            _ => Err(format!("no executable of the package is named {}: it has no src/main.rs", self.name)),
        }
    }

    /// The folder of its migrations, below its root.
    pub(super) fn migrations(&self) -> &'static str {
        if self.dialect == Dialect::Postgres { "migrations/postgres" } else { "migrations" }
    }

    pub(super) fn tables(&self) -> Result<Vec<Table>, String> {
        tables::of_folder(&self.root.join(self.migrations()))
    }

    /// The file of the next migration: `migrations/0002_post.sql`.
    pub(super) fn next_migration(&self, name: &str) -> Result<String, String> {
        let folder = self.root.join(self.migrations());
        let names = tables::migrations(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let number = |name: &String| name.split('_').next().and_then(|number| number.parse::<u32>().ok());
        let next = names.iter().filter_map(number).max().unwrap_or(0) + 1;
        Ok(format!("{}/{next:04}_{name}.sql", self.migrations()))
    }

    /// An error if its migrations never run.
    pub(super) fn has_database(&self) -> Result<(), String> {
        if source::has_migrations(&self.read("src/lib.rs")?) {
            return Ok(());
        }
        Err("src/lib.rs has no database with the migrations of this folder: add the line \
             `.database(migrations!(\"migrations\"))` behind `App::new()`, and `use skep::sql::migrations;`"
            .to_owned())
    }

    /// The table whose rows sign in, by the name of their type, or by the statements beside it.
    pub(super) fn signs_in(&self, table: &str) -> Result<Option<String>, String> {
        let sources = self.sources()?;
        let types: Vec<String> = sources.iter().flat_map(|(_, text)| source::signed_in(text)).collect();
        let reads = |name: &str| {
            let implements = |text: &str| text.contains(&format!("Account for {name} "));
            let has_table = |text: &str| {
                text.split(|one: char| !one.is_alphanumeric() && one != '_')
                    .collect::<Vec<_>>()
                    .windows(2)
                    .any(|pair| pair == ["from", table])
            };
            sources.iter().any(|(_, text)| implements(text) && has_table(text))
        };
        let is_its_name = |name: &str| Name::parse(name, "type").is_ok_and(|name| name.snake() == table);
        Ok(types.into_iter().find(|name| is_its_name(name) || reads(name)))
    }

    /// The files of Rust below `src`, with their texts.
    pub(super) fn sources(&self) -> Result<Vec<(PathBuf, String)>, String> {
        let (mut found, mut folders) = (Vec::new(), vec![self.root.join("src")]);
        while let Some(folder) = folders.pop() {
            let failed = |error| format!("{}: {error}", folder.display());
            for entry in fs::read_dir(&folder).map_err(failed)?.flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    found.push((path.clone(), fs::read_to_string(&path).unwrap_or_default()));
                }
            }
        }
        found.sort();
        Ok(found)
    }

    /// The text of one of its files.
    pub(super) fn read(&self, file: &str) -> Result<String, String> {
        fs::read_to_string(self.root.join(file)).map_err(|error| format!("{file}: {error}"))
    }

    pub(super) fn has(&self, file: &str) -> bool {
        self.root.join(file).symlink_metadata().is_ok()
    }
}

fn text_of(path: &Path) -> serde_json::Value {
    path.to_str().unwrap_or_default().into()
}

fn metadata(manifest: &Path) -> Result<serde_json::Value, String> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"]).arg(manifest);
    let output = command.output().map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim_end().to_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}
