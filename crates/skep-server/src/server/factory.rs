//! Creating the application.

use std::fmt;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::process::{Signal, WaitOptions, kill_process, waitpid};
use skep::App;

use crate::config::Reading;
use crate::error::StartError;
use crate::sys::process::{die_with_parent, fork, unblock_signals};

/// How long the supervisor waits for the check for unmounted services. If creating the application takes longer, its
/// first worker reports them.
const CHECK_TIMEOUT: Duration = Duration::from_millis(200);

/// Creates an application.
///
/// A function or closure that returns an [`App`] is one. So is an [`App`]; but then it is created before the server
/// knows which of its processes this is, and so in the supervisor, too.
///
/// ```
/// use skep_server::Server;
///
/// let of_function = Server::new(skep::App::new);
/// let of_value = Server::new(skep::App::new().name("shop", "1.0"));
/// # let _ = (of_function, of_value);
/// ```
pub struct AppFactory(Box<dyn FnOnce() -> App + Send>);

/// The name and version of an application.
pub(super) struct Name {
    pub(super) name: String,
    version: String,
}

impl AppFactory {
    pub(super) fn create(self) -> App {
        (self.0)()
    }

    /// Creates the application, and fails if it has unmounted services, unless they are allowed.
    pub(super) fn create_checked(self, allow_unmounted: bool) -> Result<App, StartError> {
        let app = self.create();
        let unmounted = if allow_unmounted { Vec::new() } else { app.unmounted_services() };
        if unmounted.is_empty() { Ok(app) } else { Err(StartError::new(unmounted.join("\n"))) }
    }

    /// Fails if the application has unmounted services or its settings are wrong, before the server binds any address.
    /// A child process creates the application, so that the supervisor never runs its code; it calls `prepare` first.
    ///
    /// The child prints nothing and reports no other error: the first worker does.
    pub(super) fn check_in_child(
        self,
        prepare: impl FnOnce() -> Result<(), String>,
        reading: &Reading,
        allow_unmounted: bool,
    ) -> Result<(), StartError> {
        let supervisor = std::process::id();
        let Ok((mut ours, mut theirs)) = UnixStream::pair() else { return Ok(()) };
        let child = fork(move || {
            let is_set_up =
                die_with_parent(supervisor).and_then(|()| silence_output()).and_then(|()| unblock_signals());
            if is_set_up.is_err() || prepare().is_err() {
                return 1;
            }
            let checked = self.create_checked(allow_unmounted).and_then(|app| {
                let settings = reading.read(Some(&app.setting_rows()))?;
                Ok(app.check_settings(settings.application)?)
            });
            let Err(unmounted) = checked else { return 0 };
            i32::from(theirs.write_all(unmounted.to_string().as_bytes()).is_err())
        });
        // A process with several threads cannot fork.
        let Ok(child) = child else { return Ok(()) };
        let mut unmounted = String::new();
        let received = ours.set_read_timeout(Some(CHECK_TIMEOUT)).and_then(|()| ours.read_to_string(&mut unmounted));
        let _ = kill_process(child, Signal::KILL);
        let _ = waitpid(Some(child), WaitOptions::empty());
        if received.is_ok() && !unmounted.is_empty() { Err(StartError::new(unmounted)) } else { Ok(()) }
    }
}

/// Discards what this process prints from now on.
fn silence_output() -> std::io::Result<()> {
    let null = std::fs::File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}

impl<F: FnOnce() -> App + Send + 'static> From<F> for AppFactory {
    fn from(create: F) -> Self {
        Self(Box::new(create))
    }
}

impl From<App> for AppFactory {
    fn from(app: App) -> Self {
        Self(Box::new(|| app))
    }
}

impl Name {
    /// The name of the application, or else of the executable.
    pub(super) fn of(app: &App) -> Self {
        match app.name_and_version() {
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

impl fmt::Debug for AppFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AppFactory")
    }
}
