//! The application in whose folder the command runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use skep_sql_lock::Dialect;

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
        Ok(Self {
            root: root.to_owned(),
            name: text(&package["name"]),
            library: text(&library["name"]).replace('-', "_"),
            edition: text(&package["edition"]),
            dialect: skep_sql_lock::dialect(&source)?,
            workspace: text(&metadata["workspace_root"]).into(),
        })
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
