//! `skep new`: an application to begin with. It is `examples/starter`, under another name, or with accounts
//! `examples/members`.

mod files;
mod manifest;

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use skep_units::nearest;

use crate::generate::is_keyword;
use crate::{run_with, say};

const HELP: &str = "\
usage: skep new FOLDER [--sign-in | --api] [--postgres] [--path SKEP]

Begin an application: a list, a page, a form and a delete button on a database, with a layout, a style sheet, tests, and
files for CI, Docker, systemd and nginx. The name of the folder is the name of the application.

  --sign-in     with accounts: people sign up, in and out, and what they have written is for who is signed in
  --api         no pages: an interface of JSON, which OpenAPI describes
  --postgres    on PostgreSQL instead of SQLite
  --path SKEP   a clone of Skep, which is not published yet; otherwise the one that this command was built from
";

const NEXT: &str = "  skep dev      # http://127.0.0.1:8080, reloads when you save; the first build takes minutes\n  cargo run     # http://127.0.0.1:8800\n  cargo test";

/// Names that would hide a crate which the application uses, or which cargo refuses.
const TAKEN: [&str; 10] =
    ["alloc", "build", "core", "deps", "examples", "incremental", "proc-macro", "skep", "std", "test"];

/// Runs the command.
pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    run_with("new", HELP, read(arguments), |wanted| create(&wanted))
}

fn create(wanted: &Wanted) -> ExitCode {
    match wanted.create() {
        Ok(()) => {
            let folder = wanted.folder.display();
            say(&format!("{folder} is there: a list of notes, to make into what you want.\n\n  cd {folder}\n{NEXT}\n"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("skep new: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Wanted {
    folder: PathBuf,
    /// That of the folder, and of the package.
    name: String,
    /// The clone of Skep.
    skep: PathBuf,
    sign_in: bool,
    /// Without pages.
    api: bool,
    postgres: bool,
}

/// What the command line asks for; none if it asks for help.
fn read(arguments: Vec<OsString>) -> Result<Option<Wanted>, String> {
    let (mut folder, mut skep) = (None, None);
    let (mut sign_in, mut api, mut postgres) = (false, false, false);
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--help" | "-h") => return Ok(None),
            Some("--path") => {
                let path = arguments.next().ok_or("--path needs the folder of a clone of Skep")?;
                skep = Some(PathBuf::from(path));
            }
            Some("--sign-in") => sign_in = true,
            Some("--api") => api = true,
            Some("--postgres") => postgres = true,
            Some(flag) if flag.starts_with("--path=") => skep = Some(PathBuf::from(&flag["--path=".len()..])),
            Some(flag) if flag.starts_with('-') => {
                let near = nearest(flag, ["--sign-in", "--api", "--postgres", "--path", "--help"]);
                let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
                return Err(format!("there is no flag {flag}{near}"));
            }
            _ if folder.is_some() => return Err(format!("one folder at a time, not \"{}\", too", argument.display())),
            _ => folder = Some(PathBuf::from(argument)),
        }
    }
    let folder = folder.ok_or("which folder?")?;
    if sign_in && api {
        return Err("--api has no pages on which people sign in: write one of both, --sign-in or --api".to_owned());
    }
    // "." has a name, too.
    let named = if folder.file_name().is_some() { None } else { fs::canonicalize(&folder).ok() };
    let name = named.as_ref().unwrap_or(&folder).file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or_default().to_owned();
    check(&name)?;
    let skep = skep.unwrap_or_else(|| {
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap_or(Path::new("/")).to_owned()
    });
    // It stands in files of another folder. What is not there is named by who looks for the clone.
    let skep = fs::canonicalize(&skep).unwrap_or(skep);
    Ok(Some(Wanted { folder, name, skep, sign_in, api, postgres }))
}

/// Whether a package may have this name, and a crate that it depends on has not.
fn check(name: &str) -> Result<(), String> {
    let is_word =
        |word: &str| !word.is_empty() && word.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit());
    if !name.starts_with(|first: char| first.is_ascii_lowercase()) || !name.split(['-', '_']).all(is_word) {
        return Err(format!(
            "\"{name}\" is not the name of an application: expected lower-case letters and digits, and a - or _ between them, such as \"my-shop\""
        ));
    }
    if is_keyword(name) {
        return Err(format!("\"{name}\" is a word of Rust, which no application can be named: choose another name"));
    }
    if TAKEN.contains(&name) || name.replace('_', "-").starts_with("skep-") {
        return Err(format!("\"{name}\" is the name of a crate, or of a folder of cargo's: choose another name"));
    }
    Ok(())
}

impl Wanted {
    /// Writes all files, or none.
    fn create(&self) -> Result<(), String> {
        let is_free =
            |folder: &Path| folder.read_dir().is_ok_and(|files| files.flatten().all(|file| file.file_name() == ".git"));
        if self.folder.symlink_metadata().is_ok() && !is_free(&self.folder) {
            return Err(format!("{} is there already, and is not empty: nothing was written", self.folder.display()));
        }
        let (manifest, lock) = self.manifest()?;
        let mut made = Made::default();
        let written = self.write(&mut made, &manifest, &lock);
        written.map_err(|(path, error)| {
            made.undo();
            format!("{}: {error}: nothing was written", path.display())
        })
    }

    fn write(&self, made: &mut Made, manifest: &str, lock: &str) -> Result<(), (PathBuf, io::Error)> {
        let own =
            [("Cargo.toml", manifest), ("Cargo.lock", lock)].map(|(file, text)| (file.to_owned(), text.to_owned()));
        let files = self.files();
        for (file, text) in own.into_iter().filter(|(_, text)| !text.is_empty()).chain(files) {
            let path = self.folder.join(file);
            made.file(&path, &text).map_err(|error| (path, error))?;
        }
        Ok(())
    }
}

/// Files and folders that were made, to be taken back if one of them cannot be.
#[derive(Default)]
struct Made(Vec<PathBuf>);

impl Made {
    fn folder(&mut self, path: &Path) -> io::Result<()> {
        if path.as_os_str().is_empty() || path.is_dir() {
            return Ok(());
        }
        self.folder(path.parent().unwrap_or(Path::new("")))?;
        fs::create_dir(path)?;
        self.0.push(path.to_owned());
        Ok(())
    }

    fn file(&mut self, path: &Path, text: &str) -> io::Result<()> {
        self.folder(path.parent().unwrap_or(Path::new("")))?;
        let mut file = fs::File::create_new(path)?;
        self.0.push(path.to_owned());
        file.write_all(text.as_bytes())
    }

    fn undo(self) {
        for path in self.0.into_iter().rev() {
            let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir(&path));
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/new.rs"]
mod tests;
