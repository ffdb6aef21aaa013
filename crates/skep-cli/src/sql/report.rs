//! What is wrong with a statement, for the one who wrote it: the message of PostgreSQL, the place, and the name that
//! was probably meant.

use skep_sql_lock::message::{listed, pointed};
use skep_sql_lock::text::{Piece, pieces};
use tokio_postgres::error::{ErrorPosition, SqlState};

use super::catalog::Catalog;

/// What PostgreSQL says of a failure.
#[derive(Default)]
pub(super) struct Failure {
    pub(super) message: Option<String>,
    hint: Option<String>,
    code: Option<SqlState>,
    /// In characters of the text that it was given, from 1.
    position: Option<usize>,
}

impl Failure {
    pub(super) fn of(error: &tokio_postgres::Error) -> Self {
        let Some(error) = error.as_db_error() else { return Self::default() };
        let position = match error.position() {
            Some(ErrorPosition::Original(position)) => usize::try_from(*position).ok(),
            _ => None,
        };
        Self {
            message: Some(error.message().to_owned()),
            hint: error.hint().map(str::to_owned),
            code: Some(error.code().clone()),
            position,
        }
    }

    /// In bytes of the text that PostgreSQL was given.
    pub(super) fn offset(&self, text: &str) -> Option<usize> {
        let nth = self.position?.checked_sub(1)?;
        text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(nth)
    }
}

/// `text` has `?`, and PostgreSQL was given numbers.
pub(super) fn explain(catalog: &Catalog, text: &str, failure: &Failure, error: String) -> String {
    let mut message = failure.message.clone().unwrap_or(error);
    if let Some(offset) = failure.position.and_then(|position| written_at(text, position)) {
        message.push_str(&pointed(text, offset));
    }
    let help = near(catalog, text, failure).or_else(|| failure.hint.clone());
    if let Some(help) = help {
        message.push_str("\n  = help: ");
        message.push_str(&help);
    }
    message
}

/// Where in a text with `?` the place of a text with `$1` is.
fn written_at(text: &str, position: usize) -> Option<usize> {
    let mut left = position.checked_sub(1)?;
    let (mut at, mut count) = (0, 0_usize);
    for piece in pieces(text) {
        let part = &text[at..at + piece.length()];
        let given = match piece {
            Piece::Parameter("") => {
                count += 1;
                1 + count.to_string().len()
            }
            Piece::Operator => 1,
            _ => part.chars().count(),
        };
        if left < given {
            let inside = if matches!(piece, Piece::Parameter(_) | Piece::Operator) { 0 } else { left };
            return Some(at + part.char_indices().nth(inside).map_or(0, |(byte, _)| byte));
        }
        left -= given;
        at += part.len();
    }
    Some(text.len())
}

/// The nearest name of a table, a column or a function.
fn near(catalog: &Catalog, text: &str, failure: &Failure) -> Option<String> {
    let (code, message) = (failure.code.as_ref()?, failure.message.as_deref()?);
    if *code == SqlState::UNDEFINED_TABLE {
        let name = quoted(message)?;
        let mut known: Vec<&str> = catalog.names().collect();
        known.sort_unstable();
        return Some(match skep_units::nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => "the migrations make no table".to_owned(),
            None => format!("the migrations make {}", listed(known)),
        });
    }
    if *code == SqlState::UNDEFINED_COLUMN {
        // `column "titel" of relation "post" does not exist`, and `column p.titel does not exist`.
        let name = quoted(message).or_else(|| message.strip_prefix("column ")?.split(' ').next())?;
        let name = name.rsplit('.').next()?;
        let lower = text.to_ascii_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
        let mut mentioned: Vec<_> = catalog
            .relations
            .values()
            .filter(|relation| words.contains(&relation.name.rsplit('.').next().unwrap_or_default()))
            .collect();
        mentioned.sort_by(|one, other| one.name.cmp(&other.name));
        let near = mentioned.iter().find_map(|relation| {
            let near = skep_units::nearest(name, relation.columns.iter().map(String::as_str))?;
            Some(format!("did you mean `{near}` of `{}`?", relation.name))
        });
        let all = || {
            let all = mentioned
                .iter()
                .map(|one| format!("`{}` has {}", one.name, listed(one.columns.iter().map(String::as_str))));
            let all: Vec<String> = all.collect();
            (!all.is_empty()).then(|| all.join("; "))
        };
        return near.or_else(all);
    }
    None
}

/// What stands between the first quotes.
fn quoted(message: &str) -> Option<&str> {
    message.split('"').nth(1)
}
