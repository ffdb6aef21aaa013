//! The statements of an application, as its compiler meets them: `sql!` writes each into a folder that a variable
//! names.
//!
//! The variable has another value each time, and `sql!` makes Cargo watch it, so that every macro expands again.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use skep_sql_lock::{Dialect, FILE, Lock};
use tokio::process::Command;

/// `sql!` knows it by the same name.
const LIST: &str = "SKEP_SQL_LIST";

/// The packages whose statements are for PostgreSQL.
pub(super) struct Packages {
    names: Vec<String>,
    /// Their folders.
    pub(super) roots: Vec<PathBuf>,
    target: PathBuf,
    manifest: Option<OsString>,
}

/// By folder of migrations and text: where each is.
pub(super) type Statements = BTreeMap<(PathBuf, String), String>;

/// What a compilation brought.
pub(super) struct Collected {
    pub(super) statements: Statements,
    /// What Cargo said, if it failed.
    pub(super) failure: Option<String>,
}

impl Packages {
    pub(super) async fn find(manifest: Option<OsString>) -> Result<Self, String> {
        let mut command = cargo("metadata", manifest.as_ref());
        let output = command.args(["--no-deps", "--format-version", "1"]).output().await;
        let output = output.map_err(|error| format!("cargo: {error}"))?;
        if !output.status.success() {
            return Err(no_metadata(&String::from_utf8_lossy(&output.stderr)));
        }
        let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let target = PathBuf::from(text(&metadata["target_directory"]));
        let mut packages = Self { names: Vec::new(), roots: Vec::new(), target, manifest };
        for package in metadata["packages"].as_array().into_iter().flatten() {
            let file = PathBuf::from(text(&package["manifest_path"]));
            let manifest = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            let dialect = skep_sql_lock::dialect(&manifest).map_err(|error| format!("{}: {error}", file.display()))?;
            if dialect == Dialect::Postgres {
                packages.names.push(text(&package["name"]));
                packages.roots.extend(file.parent().map(Path::to_owned));
            }
        }
        if packages.names.is_empty() {
            return Err("no package here has its statements checked for PostgreSQL: write into its Cargo.toml\n\n\
                        [package.metadata.skep]\ndatabase = \"postgres\""
                .to_owned());
        }
        Ok(packages)
    }

    /// Compiles them. What is known already, `sql!` reads from this lock file.
    pub(super) async fn collect(
        &self,
        known: &Lock,
        round: usize,
        arguments: &[OsString],
    ) -> Result<Collected, String> {
        let folder = self.target.join("skep-sql").join(format!("{}-{round}", std::process::id()));
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        fs::create_dir_all(&folder).map_err(failed)?;
        let collected = self.collect_into(&folder, known, arguments).await;
        fs::remove_dir_all(&folder).map_err(failed)?;
        collected
    }

    async fn collect_into(&self, folder: &Path, known: &Lock, arguments: &[OsString]) -> Result<Collected, String> {
        fs::write(folder.join(FILE), known.to_string()).map_err(|error| error.to_string())?;
        let mut command = cargo("check", self.manifest.as_ref());
        command.args(["--all-targets", "--keep-going"]).args(self.names.iter().flat_map(|name| ["-p", name]));
        command.args(arguments).env(LIST, folder);
        let output = command.output().await.map_err(|error| format!("cargo: {error}"))?;
        let mut statements = Statements::new();
        for file in fs::read_dir(folder).map_err(|error| error.to_string())? {
            let path = file.map_err(|error| error.to_string())?.path();
            if path.extension().is_none_or(|extension| extension != "statement") {
                continue;
            }
            let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
            let mut parts = text.splitn(3, '\n');
            if let (Some(migrations), Some(place), Some(sql)) = (parts.next(), parts.next(), parts.next()) {
                let place_of =
                    statements.entry((migrations.into(), sql.to_owned())).or_insert_with(|| place.to_owned());
                // The same one, whatever the order of the files.
                if place < place_of.as_str() {
                    place.clone_into(place_of);
                }
            }
        }
        let failure = (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned());
        Ok(Collected { statements, failure })
    }

    #[cfg(test)]
    pub(super) fn of_roots(roots: Vec<PathBuf>) -> Self {
        Self { names: Vec::new(), roots, target: PathBuf::new(), manifest: None }
    }

    pub(super) fn names(&self) -> String {
        self.names.join(", ")
    }
}

/// Cargo says that there is no package, and not what `skep sql check` wants with one.
fn no_metadata(reason: &str) -> String {
    let reason = reason.trim_end();
    let help = if reason.contains("could not find `Cargo.toml`") {
        "help: run it in the folder of the application's package or workspace, or name its Cargo.toml with `--manifest-path`"
    } else {
        "help: `skep sql check` compiles the application to collect its statements; this is what Cargo says"
    };
    format!("{reason}\n{help}")
}

fn cargo(command: &str, manifest: Option<&OsString>) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.arg(command).kill_on_drop(true);
    // Started by `cargo run` or a test, this process has variables of a package of its own. Build scripts that ask to
    // be run again when one of them changes (ring's) would have everything above them compiled again, here and in the
    // next build, too.
    for (key, _) in std::env::vars_os().filter(|(key, _)| describes_a_package(key)) {
        cargo.env_remove(key);
    }
    if let Some(manifest) = manifest {
        cargo.arg("--manifest-path").arg(manifest);
    }
    cargo
}

fn describes_a_package(key: &OsStr) -> bool {
    const PREFIXES: [&str; 5] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"];
    key.to_str().is_some_and(|key| PREFIXES.iter().any(|prefix| key.starts_with(prefix)))
}
