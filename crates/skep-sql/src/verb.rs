//! The verbs, for each database.

use super::changes::Changes;
#[cfg(feature = "postgres")]
use super::postgres;
use super::row::Row;
use crate::sqlite::connection::{self, Connection};

/// One verb with its row type.
pub(super) struct Verb<R> {
    pub(super) sqlite: connection::Verb<R>,
    #[cfg(feature = "postgres")]
    pub(super) postgres: postgres::Verb<R>,
}

/// What makes a verb: `Verbs::all::<Post>`.
pub(super) type Make<R> = fn() -> Verb<R>;

pub(super) enum Verbs {}

impl Verbs {
    pub(super) fn all<T: Row>() -> Verb<Vec<T>> {
        Verb {
            sqlite: Connection::all::<T>,
            #[cfg(feature = "postgres")]
            postgres: postgres::all::<T>(),
        }
    }

    pub(super) fn first<T: Row>() -> Verb<Option<T>> {
        Verb {
            sqlite: Connection::first::<T>,
            #[cfg(feature = "postgres")]
            postgres: postgres::first::<T>(),
        }
    }

    pub(super) fn one<T: Row>() -> Verb<Option<T>> {
        Verb {
            sqlite: Connection::one::<T>,
            #[cfg(feature = "postgres")]
            postgres: postgres::one::<T>(),
        }
    }

    pub(super) fn execute() -> Verb<Changes> {
        Verb {
            sqlite: Connection::execute,
            #[cfg(feature = "postgres")]
            postgres: postgres::execute(),
        }
    }
}
