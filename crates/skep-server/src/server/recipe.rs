//! How an application is made, before it is.

use std::fmt;

use skep::App;

use super::StartError;

/// What makes an application. The supervisor has only this, and drops it.
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
