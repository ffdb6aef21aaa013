//! What PostgreSQL and the way to it say, in words of ours.

use std::time::Duration;

use skep_units::chain;
use tokio_postgres::Error as Raw;
use tokio_postgres::error::{DbError, ErrorPosition};

use crate::error::states::{IN_DOUBT, LOST, STALE};
use crate::error::{Error, Kind};

/// "lock not available"
const LOCKED: &str = "55P03";

pub(super) fn failed(error: Raw) -> Error {
    match error.as_db_error() {
        // The word of the source code is in no language: of all that is not supported, only this may be tried again.
        Some(error) if error.routine() == Some("RevalidateCachedQuery") => {
            Kind::Postgres { code: STALE.into(), message: message(error), parameter: None }.into()
        }
        Some(error) => {
            let parameter = error.where_().and_then(parameter);
            Kind::Postgres { code: error.code().code().into(), message: message(error), parameter }.into()
        }
        None if is_ours(&error) => Error::other(error),
        None => unreachable(chain(&error)),
    }
}

/// There is no connection.
pub(super) fn unreachable(reason: impl Into<String>) -> Error {
    let message = format!("PostgreSQL cannot be reached: {}", reason.into());
    Kind::Postgres { code: LOST.into(), message, parameter: None }.into()
}

/// It was not answered.
pub(super) fn no_answer(waited: Duration) -> Error {
    unreachable(format!("no answer for {} ms", waited.as_millis()))
}

/// All are in use.
pub(super) fn no_connection(waited: Duration) -> Error {
    let message = format!(
        "no connection was free for {} ms: transactions, writes or slow reads hold all of them, or PostgreSQL hangs",
        waited.as_millis()
    );
    Kind::Postgres { code: LOCKED.into(), message, parameter: None }.into()
}

impl Error {
    /// It of a statement that writes: should it be lost with its connection, it may have been done.
    pub(super) fn in_doubt(mut self) -> Self {
        if let Kind::Postgres { code, message, .. } = &mut self.inner.kind
            && **code == *LOST
        {
            *code = IN_DOUBT.into();
            message.push_str(", and it is not known whether what was written is kept");
        }
        self
    }

    /// PostgreSQL itself said it, or the connection to it.
    pub(super) fn is_of_postgres(&self) -> bool {
        !self.state().is_empty()
    }

    /// What was prepared before does not fit the tables any more, or is not there. Nothing was done.
    pub(super) fn is_stale(&self) -> bool {
        self.state() == STALE
    }
}

/// Of which parameter PostgreSQL could not read the value: `unnamed portal parameter $2`, and maybe ` = '...'`, in its
/// language. A function of the statement has more to say of where it was, and names in quotes.
fn parameter(context: &str) -> Option<usize> {
    let (before, number) = context.split_once('$')?;
    let number = number.split_once(" = ").map_or(number, |(number, _)| number);
    number.parse().ok().filter(|_| !before.contains(['"', '\n']))
}

/// Where in the text the error is, counted in characters from 1.
pub(super) fn position(error: &Raw) -> Option<usize> {
    match error.as_db_error()?.position()? {
        ErrorPosition::Original(position) => usize::try_from(*position).ok(),
        ErrorPosition::Internal { .. } => None,
    }
}

/// A mistake in what was asked, and none of the connection.
fn is_ours(error: &Raw) -> bool {
    let text = error.to_string();
    ["error serializing", "error deserializing", "invalid connection string", "invalid configuration"]
        .iter()
        .any(|start| text.starts_with(start))
}

/// Without the detail, which has values of rows.
fn message(error: &DbError) -> String {
    match error.hint() {
        Some(hint) => format!("{} ({hint})", error.message()),
        None => error.message().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::parameter;

    #[test]
    fn the_parameter_is_known_whose_value_cannot_be_read() {
        assert_eq!(parameter("unnamed portal parameter $2"), Some(2));
        assert_eq!(parameter("unbenannter Portalparameter $12 = 'a $1 = b'"), Some(12));
        for context in ["SQL expression \"$1\"\nPL/pgSQL function a()", "SQL function \"a\" statement 1", ""] {
            assert_eq!(parameter(context), None, "{context}");
        }
    }
}
