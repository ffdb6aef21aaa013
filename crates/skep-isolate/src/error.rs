//! Why a component is not served: for the person who starts the server or reads its log.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

/// Why a component, a setting or a cache is refused. The text says what is wrong, where, and what would be right.
#[derive(Debug)]
pub(crate) enum Error {
    /// An error about this file.
    File { path: PathBuf, source: Box<Error> },
    /// The system failed at this.
    Io { what: String, source: io::Error },
    /// The engine failed at this.
    Engine { what: String, source: wasmtime::Error, hint: &'static str },
    /// A component or a setting is not what is expected.
    Invalid(String),
    /// The command line is wrong.
    Usage(String),
    /// The machine had no time or no room. The same may succeed later.
    Busy(String),
    /// Several applications failed.
    Several(Vec<Arc<Error>>),
}

impl Error {
    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Self::Invalid(text.into())
    }

    pub(crate) fn io(what: impl Into<String>, source: io::Error) -> Self {
        Self::Io { what: what.into(), source }
    }

    pub(crate) fn engine(what: impl Into<String>, source: wasmtime::Error) -> Self {
        Self::Engine { what: what.into(), source, hint: "" }
    }

    /// The same, about this file.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        Self::File { path: path.to_owned(), source: Box::new(self) }
    }

    /// True if the same may succeed later.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            Self::Busy(_) => true,
            Self::File { source, .. } => source.is_temporary(),
            _ => false,
        }
    }
}

/// What the server says of its settings.
impl From<skep_server::StartError> for Error {
    fn from(error: skep_server::StartError) -> Self {
        let text = error.to_string();
        if error.is_usage() { Self::Usage(text) } else { Self::Invalid(text) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, source } => write!(f, "{}: {source}", path.display()),
            Self::Io { what, source } => write!(f, "{what}: {source}"),
            Self::Engine { what, source, hint } => write!(f, "{what}: {source:#}{hint}"),
            Self::Invalid(text) | Self::Usage(text) | Self::Busy(text) => f.write_str(text),
            Self::Several(errors) => {
                f.write_str(&errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { source, .. } => Some(source),
            Self::Io { source, .. } => Some(source),
            Self::Engine { source, .. } => Some(source.as_ref()),
            Self::Invalid(_) | Self::Usage(_) | Self::Busy(_) | Self::Several(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn an_error_names_its_file_and_keeps_its_cause() {
        let error = Error::io("cannot be read", io::Error::other("no disk")).in_file(Path::new("app.wasm"));
        assert_eq!(error.to_string(), "app.wasm: cannot be read: no disk");
        let cause = error.source().and_then(std::error::Error::source).unwrap();
        assert!(cause.downcast_ref::<io::Error>().is_some() && !error.is_temporary());
        assert!(Error::Busy("late".into()).in_file(Path::new("a")).is_temporary());
        assert_eq!(Error::Several(vec![Error::invalid("a").into(), Error::invalid("b").into()]).to_string(), "a\nb");
    }
}
