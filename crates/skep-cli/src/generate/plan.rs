//! What is to be written: new files, and old ones with something inserted. All of it stays, or nothing.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::diff;
use super::package::Package;
use super::written::Written;

/// A file below the root of the package.
struct Change {
    file: String,
    /// None: the file is new.
    old: Option<String>,
    new: String,
}

/// Files to be written.
pub(super) struct Plan<'p> {
    package: &'p Package,
    changes: Vec<Change>,
}

impl<'p> Plan<'p> {
    pub(super) fn new(package: &'p Package) -> Self {
        Self { package, changes: Vec::new() }
    }

    /// A new file. Rust is formatted.
    pub(super) fn create(&mut self, file: &str, text: &str) -> Result<(), String> {
        if self.package.has(file) {
            return Err(format!(
                "{file} is there already, and nothing is overwritten: choose another name, or remove it"
            ));
        }
        let new = if is_rust(file) {
            self.format(text).map_err(|error| format!("{file}: {error}"))?
        } else {
            text.to_owned()
        };
        self.changes.push(Change { file: file.to_owned(), old: None, new });
        Ok(())
    }

    /// Inserts something into a file. It is formatted if it was before.
    pub(super) fn edit(&mut self, file: &str, insert: impl Fn(&str) -> Result<String, String>) -> Result<(), String> {
        let known = self.changes.iter().position(|change| change.file == file);
        let old = known.map_or_else(|| self.package.read(file), |at| Ok(self.changes[at].new.clone()))?;
        let mut new = insert(&old).map_err(|error| format!("{file}: {error}"))?;
        if is_rust(file) && self.format(&old).is_ok_and(|formatted| formatted == old) {
            new = self.format(&new).map_err(|error| format!("{file}: {error}"))?;
        }
        match known {
            Some(at) => self.changes[at].new = new,
            None if old == new => {}
            None => self.changes.push(Change { file: file.to_owned(), old: Some(old), new }),
        }
        Ok(())
    }

    /// The difference of each file, in the order in which they were planned.
    pub(super) fn diff(&self) -> String {
        let changes = self.changes.iter();
        changes.map(|change| diff::of_file(&change.file, change.old.as_deref(), &change.new)).collect()
    }

    /// A line for each new file, and the difference of each old one.
    pub(super) fn summary(&self) -> String {
        let mut text = String::new();
        for Change { file, old, new } in &self.changes {
            match old {
                None => _ = writeln!(text, "new  {file}, {} lines", new.lines().count()),
                Some(old) => _ = write!(text, "\n{}", diff::of_file(file, Some(old), new)),
            }
        }
        text
    }

    /// Whether a server that runs the migrations of a folder would find a new one.
    pub(super) fn has_migration(&self) -> bool {
        let folder = format!("{}/", self.package.migrations());
        self.changes.iter().any(|change| change.file.starts_with(&folder))
    }

    /// Whether any of it is compiled.
    pub(super) fn is_compiled(&self) -> bool {
        self.changes.iter().any(|change| is_rust(&change.file))
    }

    /// Writes everything. Without [`Written::keep`], all of it is taken back.
    pub(super) fn write(&self) -> Result<Written, String> {
        let mut written = Written::default();
        // What the check may change.
        for file in [
            self.package.workspace.join("Cargo.lock"),
            self.package.root.join(self.package.migrations()).join("sql.lock"),
        ] {
            written.remember(&file);
        }
        for Change { file, old, new } in &self.changes {
            let path = self.package.root.join(file);
            written.write(&path, old.as_deref(), new).map_err(|error| format!("{file}: {error}"))?;
        }
        Ok(written)
    }

    /// As rustfmt writes it, with the settings of the package.
    fn format(&self, text: &str) -> Result<String, String> {
        let mut command = Command::new("rustfmt");
        command.args(["--edition", &self.package.edition, "--emit", "stdout"]).current_dir(&self.package.root);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let missing = |error| format!("rustfmt does not start ({error}): `rustup component add rustfmt` installs it");
        let mut child = command.spawn().map_err(missing)?;
        // It reads all before it writes.
        let sent = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(text.as_bytes()));
        let output = sent.and_then(|()| child.wait_with_output()).map_err(missing)?;
        if !output.status.success() {
            return Err(format!("rustfmt: {}", String::from_utf8_lossy(&output.stderr).trim_end()));
        }
        String::from_utf8(output.stdout).map_err(|error| error.to_string())
    }
}

fn is_rust(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|extension| extension == "rs")
}
