//! Who is drilled: an executable, and how it is started.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::application::{APPLICATION, MARK};
use crate::components;
use crate::error::{Error, Result};

/// An executable with an application of Skep in it, and how to start it.
///
/// ```
/// use skep_drill::Subject;
///
/// let subject = Subject::executable("target/release/blog", ["--set", "log.access=false"]).path("/writings");
/// assert!(!subject.is_ours());
/// ```
#[derive(Clone, Debug)]
pub struct Subject {
    program: PathBuf,
    /// What comes before our own arguments.
    words: Vec<OsString>,
    path: String,
    kind: Kind,
    is_ours: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Executable,
    /// It is served by `skep serve`.
    Component,
}

impl Subject {
    /// The application that crashes, leaks and hangs when it is asked to: this very executable, which must be that
    /// application (`skep_server::run_with`, see [`application`](crate::application())) when its first argument is
    /// [`APPLICATION`].
    pub fn ours() -> Result<Self> {
        let program = std::env::current_exe()?;
        Ok(Self { program, words: vec![APPLICATION.into()], path: "/".into(), kind: Kind::Executable, is_ours: true })
    }

    /// Anybody's application, which only answers requests. It is started with these arguments besides our own.
    #[must_use]
    pub fn executable(program: impl Into<PathBuf>, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        let words = arguments.into_iter().map(Into::into).collect();
        Self { program: program.into(), words, path: "/".into(), kind: Kind::Executable, is_ours: false }
    }

    /// Anybody's component, served by `skep serve` with these arguments besides our own.
    #[must_use]
    pub fn component(file: &Path, arguments: Vec<OsString>) -> Self {
        let kind = Kind::Component;
        Self { program: file.to_owned(), words: arguments, path: "/".into(), kind, is_ours: false }
    }

    /// The component that fails when it is asked to.
    #[must_use]
    pub fn our_component() -> Self {
        Self { is_ours: true, ..Self::component(Path::new(""), Vec::new()) }
    }

    /// The path that is asked for; it has to be answered with 200 (`/` if nobody says otherwise).
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// True if it can be asked to fail.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.is_ours
    }

    /// What is asked for.
    pub(crate) fn asked(&self) -> &str {
        &self.path
    }

    /// The command that starts it in this folder, as the version that was put there or else as it is.
    #[must_use]
    pub fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
        let deployed = self.place(folder);
        let mut command = match self.kind {
            Kind::Executable => self.bare(if deployed.exists() { &deployed } else { &self.program }, folder),
            Kind::Component => components::command(&deployed, folder, &self.words),
        };
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A component is served from the folder, so that some version of it must be there.
    pub(crate) fn prepare(&self, folder: &Path) -> Result<()> {
        if self.kind == Kind::Component && !self.place(folder).exists() { self.deploy(folder, "0") } else { Ok(()) }
    }

    /// Where versions of it are put.
    pub(crate) fn place(&self, folder: &Path) -> PathBuf {
        folder.join(if self.kind == Kind::Component { "app.wasm" } else { "app" })
    }

    /// Says a word to the server in this folder, and gives back whether it went well, and the answer.
    pub fn control(&self, folder: &Path, word: &str, arguments: &[&str]) -> Result<(bool, String)> {
        // Whatever was put there meanwhile.
        let mut command = self.bare(&self.program, folder);
        let output = command.args(["--control", word]).args(arguments).stdin(Stdio::null()).output()?;
        let text = [output.stdout, output.stderr].concat();
        Ok((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
    }

    fn bare(&self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.args(&self.words);
        if self.is_ours {
            command.current_dir(folder);
        } else {
            // Its settings are where it is started; its data stay as they are.
            command.arg("--data").arg(folder.join("data"));
        }
        command
    }

    /// Puts this version into the folder, as a deployment does: whole, under another name, and then in the place of the
    /// old.
    pub fn deploy(&self, folder: &Path, version: &str) -> Result<()> {
        deploy_bytes(&self.place(folder), &self.bytes(version)?)
    }

    /// The file of this version.
    pub(crate) fn bytes(&self, version: &str) -> Result<Vec<u8>> {
        let read =
            || fs::read(&self.program).map_err(|error| Error::new(format!("{}: {error}", self.program.display())));
        Ok(match (self.kind, self.is_ours) {
            (Kind::Component, true) => components::ours(version)?,
            (Kind::Component, false) => components::marked(read()?, version),
            (Kind::Executable, _) => [read()?, mark(version)].concat(),
        })
    }
}

/// What stands behind the end of an executable of this version: it is never read but by [`version`](crate::version).
#[must_use]
pub fn mark(version: &str) -> Vec<u8> {
    format!("\nversion {version:<width$}", width = MARK - 9).into_bytes()
}

/// By a process of its own: what another thread starts meanwhile would have the file open for writing for a moment, and
/// no such file can be run.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut tee = Command::new("tee").arg(path).stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    let written = tee.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(bytes));
    let status = tee.wait()?;
    written?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("tee: {status}"))) }
}

/// Puts these bytes there as an executable, in one step.
pub fn deploy_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    let new = path.with_extension("new");
    write(&new, bytes)
        .map_err(|error| Error::new(format!("{} of {} MB: {error}", new.display(), bytes.len() / 1_000_000)))?;
    fs::set_permissions(&new, fs::Permissions::from_mode(0o755))?;
    Ok(fs::rename(new, path)?)
}
