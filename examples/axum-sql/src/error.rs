//! The responses to requests that fail.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

/// Why a request failed.
pub(crate) enum Failure {
    NotFound,
    Conflict(&'static str),
    Database(skep_sql::Error),
}

impl From<skep_sql::Error> for Failure {
    fn from(error: skep_sql::Error) -> Self {
        if error.is_unique_violation() { Self::Conflict("it is there already") } else { Self::Database(error) }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        match self {
            Self::NotFound => (StatusCode::NOT_FOUND, "there is no such page").into_response(),
            Self::Conflict(why) => (StatusCode::CONFLICT, why).into_response(),
            // Its text has the statement, and is for the log. 503 is a database that is busy or away for a moment, 400
            // a wrong value.
            Self::Database(error) => {
                tracing::error!("{error}");
                let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                (status, error.client_message().unwrap_or("something went wrong")).into_response()
            }
        }
    }
}
