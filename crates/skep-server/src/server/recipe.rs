//! How an application is made, before it is.

use std::fmt;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::process::{Signal, WaitOptions, kill_process, waitpid};
use skep::App;

use super::StartError;
use crate::sys::process::{end_with, fork, let_signals_in};

/// So long a supervisor waits to hear whether the application has forgotten a service. An application that takes longer to be made would make
/// every start so much longer; its first worker says it.
const LOOK: Duration = Duration::from_millis(200);

/// What makes an application. The supervisor has only this; a copy of it looks what was forgotten, and it drops its own.
///
/// A function or a closure that makes an [`App`] is one. An [`App`] is, too: then it was made before the server knows which of its processes
/// this is, and so once more than needed, in the supervisor.
///
/// ```
/// use skep_server::Server;
///
/// let of_function = Server::new(skep::App::new);
/// let of_value = Server::new(skep::App::new().named("shop", "1.0"));
/// # let _ = (of_function, of_value);
/// ```
pub struct Recipe(Box<dyn FnOnce() -> App + Send>);

/// An application's name and version, for those who look after it.
pub(super) struct Name {
    pub(super) name: String,
    version: String,
}

impl Recipe {
    pub(super) fn make(self) -> App {
        (self.0)()
    }

    /// Makes the application, and refuses one that has forgotten some of its services. If there are others, all that it has not may be theirs.
    pub(super) fn make_whole(self, among_others: bool) -> Result<App, StartError> {
        let app = self.make();
        let forgotten = if among_others { Vec::new() } else { app.never_mounted() };
        if forgotten.is_empty() { Ok(app) } else { Err(StartError(forgotten.join("\n"))) }
    }
}

impl Recipe {
    /// Refuses an application that has forgotten some of its services, before anything is taken that others could see. It is made in a copy of
    /// this process, which ends with that: a supervisor runs nothing of it. `first`: what the copy does before.
    ///
    /// Whatever else is wrong with it there, it says nothing of: the first worker does, where it can be told apart. Nor does it write anything,
    /// since the worker will write the same.
    pub(super) fn look_apart(self, first: impl FnOnce() -> Result<(), String>) -> Result<(), StartError> {
        let supervisor = std::process::id();
        let Ok((mut ours, mut theirs)) = UnixStream::pair() else { return Ok(()) };
        let looking = fork(move || {
            let is_set_up = end_with(supervisor).and_then(|()| be_quiet()).and_then(|()| let_signals_in());
            if is_set_up.is_err() || first().is_err() {
                return 1;
            }
            let Err(forgotten) = self.make_whole(false) else { return 0 };
            i32::from(theirs.write_all(forgotten.0.as_bytes()).is_err())
        });
        // A process with threads cannot be copied.
        let Ok(looking) = looking else { return Ok(()) };
        let mut forgotten = String::new();
        let heard = ours.set_read_timeout(Some(LOOK)).and_then(|()| ours.read_to_string(&mut forgotten));
        let _ = kill_process(looking, Signal::KILL);
        let _ = waitpid(Some(looking), WaitOptions::empty());
        if heard.is_ok() && !forgotten.is_empty() { Err(StartError(forgotten)) } else { Ok(()) }
    }
}

/// What this process writes from now on, nobody reads.
fn be_quiet() -> std::io::Result<()> {
    let nowhere = std::fs::File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&nowhere)?;
    rustix::stdio::dup2_stderr(&nowhere)?;
    Ok(())
}

impl<F: FnOnce() -> App + Send + 'static> From<F> for Recipe {
    fn from(make: F) -> Self {
        Self(Box::new(make))
    }
}

impl From<App> for Recipe {
    fn from(app: App) -> Self {
        Self(Box::new(|| app))
    }
}

impl Name {
    /// What the application is called, or else the executable.
    pub(super) fn of(app: &App) -> Self {
        match app.name() {
            Some((name, version)) => Self { name: name.to_owned(), version: version.to_owned() },
            None => Self::of_executable(),
        }
    }

    pub(super) fn of_executable() -> Self {
        let executable = std::env::args_os().next().map(std::path::PathBuf::from);
        let name =
            executable.as_deref().and_then(|path| path.file_stem()).map(|name| name.to_string_lossy().into_owned());
        Self { name: name.unwrap_or_else(|| "skep".to_owned()), version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

impl fmt::Debug for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recipe")
    }
}
