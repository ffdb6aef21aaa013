//! JSON services: request bodies and responses.

use http::StatusCode;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_path_to_error::{Path, Segment};

use super::Served;
use crate::context::cx::Cx;
use crate::contract::form;
use skep_http::error::Error;
use skep_http::ext::ErrorExt as _;
use skep_http::response::{Response, Result};
use skep_http::validation::InputError;

/// The handler of a service that returns a JSON value instead of a [`Response`].
///
/// `answers = Type` says on the service what the value is; another does not compile. So `App::openapi` can describe
/// the response to clients.
///
/// ```
/// use serde::Serialize;
/// use skep::prelude::*;
///
/// #[derive(Serialize)]
/// struct Summary { title: String }
///
/// /// The newest articles.
/// #[derive(Service)]
/// #[service(GET "/api/articles", answers = Vec<Summary>)]
/// struct Articles;
///
/// impl Answer for Articles {
///     async fn answer(self, _cx: &mut Cx<'_>) -> Result<Vec<Summary>> {
///         Ok(vec![Summary { title: "Bees".into() }])
///     }
/// }
///
/// let client = skep::test::Client::new(App::new().serve(services![Articles]));
/// assert_eq!(client.get("/api/articles").text(), r#"[{"title":"Bees"}]"#);
/// ```
///
/// The status is 200, or what `status = 201` says. `answers = ()` is an answer without a body: 204. Errors are sent as
/// `application/problem+json` (RFC 9457), unless the client likes HTML better.
#[diagnostic::on_unimplemented(
    message = "the service `{Self}` has no `Answer`",
    label = "this service has no handler",
    note = "write `impl Answer for {Self} {{ async fn answer(self, cx: &mut Cx<'_>) -> Result<...> {{ ... }} }}`, with the type that `answers = ...` names"
)]
pub trait Answer: AnswersJson {
    /// Answers one request.
    #[expect(async_fn_in_trait, reason = "a handler stays on the thread that accepted its connection")]
    async fn answer(self, cx: &mut Cx<'_>) -> Result<Self::Json>;
}

/// A service with a type of answer: `#[service(GET "/path", answers = Type)]`. Written by `#[derive(Service)]`; an
/// example is at [`Answer`].
#[diagnostic::on_unimplemented(
    message = "the service `{Self}` does not declare the type of its answer",
    label = "add `answers = Type` to its `#[service(...)]`",
    note = "a service that returns a `Response`, such as a page, implements `Handle`"
)]
pub trait AnswersJson: Served {
    /// What it answers.
    type Json;
}

/// What `#[derive(Service)]` writes for a [`Handle`](super::Handle).
#[doc(hidden)]
pub async fn answer_json<S: Answer<Json: Serialize>>(service: S, cx: &mut Cx<'_>, status: u16) -> Result {
    let value = service.answer(cx).await?;
    let status = StatusCode::from_u16(status).expect("the derive takes 200 to 299 only");
    Ok(Response::json(&value)?.with_status(status))
}

/// The same for `answers = ()`.
#[doc(hidden)]
pub async fn answer_nothing<S: Answer<Json = ()>>(service: S, cx: &mut Cx<'_>, status: u16) -> Result {
    service.answer(cx).await?;
    Ok(Response::empty(StatusCode::from_u16(status).expect("the derive takes 200 to 299 only")))
}

/// What `#[derive(Service)]` writes for a description of the interface is compiled only if there is one.
#[cfg(feature = "openapi")]
#[doc(hidden)]
#[macro_export]
macro_rules! __described {
    ($($item:tt)*) => { $($item)* };
}

#[cfg(not(feature = "openapi"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __described {
    ($($item:tt)*) => {};
}

/// A value from a JSON body. What is no JSON is not understood, 400; JSON that is no such value is wrong somewhere,
/// 422.
pub(super) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T> {
    let not_json = |error: &serde_json::Error| {
        let (line, column, reason) = (error.line(), error.column(), error.to_string());
        Error::of_input(StatusCode::BAD_REQUEST, InputError::NotJson { line, column, reason })
    };
    let mut reader = serde_json::Deserializer::from_slice(body);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let pointer = pointer(error.path());
        let error = error.into_inner();
        if error.is_data() { Error::of_value(pointer, unfit(without_place(&error))) } else { not_json(&error) }
    })?;
    reader.end().map_err(|error| not_json(&error))?;
    Ok(value)
}

/// What serde says of a value, which it repeats: cut, since that may be as long as the body. What a form's type said of
/// it is known in all languages.
fn unfit(mut reason: String) -> InputError {
    const SHOWN: usize = 300;
    match form::take_refused(&reason) {
        Some(error) => InputError::Field(error),
        None => match reason.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
            Some(name) => InputError::MissingMember { name: name.to_owned() },
            None => {
                reason.truncate(reason.floor_char_boundary(SHOWN));
                InputError::Unfit { reason }
            }
        },
    }
}

/// What is wrong, without line and column: the pointer says where, and the message may be a sentence of a form's.
fn without_place(error: &serde_json::Error) -> String {
    let mut text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    if text.ends_with(&place) {
        text.truncate(text.len() - place.len());
    }
    text
}

/// RFC 6901. What serde cannot place belongs to what is around it.
fn pointer(path: &Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => pointer.extend(["/", &index.to_string()]),
            Segment::Map { key } => pointer.extend(["/", &key.replace('~', "~0").replace('/', "~1")]),
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    pointer
}
