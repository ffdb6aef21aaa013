//! What SQLite says, in words of ours.

use crate::error::{Error, Kind, codes};

// In words of this module only: a `From<rusqlite::Error>` would make rusqlite part of what skep promises.
pub(super) fn failed(error: rusqlite::Error) -> Error {
    match error {
        rusqlite::Error::SqliteFailure(code, message) => {
            let message = message.unwrap_or_else(|| code.to_string());
            Kind::Sqlite { code: code.extended_code, message }.into()
        }
        rusqlite::Error::SqlInputError { error, msg, sql, offset } => {
            let message = match usize::try_from(offset).ok().and_then(|offset| sql.get(..offset)) {
                Some(before) if before.contains('\n') => format!("{msg} (line {})", before.matches('\n').count() + 1),
                _ => msg,
            };
            Kind::Sqlite { code: error.extended_code, message }.into()
        }
        rusqlite::Error::MultipleStatement => Kind::SeveralStatements.into(),
        other => Kind::Sqlite { code: codes::ERROR, message: other.to_string() }.into(),
    }
}

impl Error {
    /// The inline budget ran out, or the statement is abandoned.
    pub(super) fn is_interrupted(&self) -> bool {
        self.primary() == codes::INTERRUPT
    }

    /// The file is damaged, or no database any more.
    pub(super) fn is_damage(&self) -> bool {
        [codes::CORRUPT, codes::NOTADB].contains(&self.primary())
    }
}
