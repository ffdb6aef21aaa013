//! The services that `cases` sends requests to. The application of the tests of `skep-isolate` has them, too.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, COOKIE};
use http::{HeaderValue, StatusCode};
use skep::form::Upload;
use skep::prelude::*;

/// Responds with this status, a body of this kind, and these lengths.
#[derive(Service)]
#[service(GET "/content/{status}/{kind}")]
pub(crate) struct Content {
    status: u16,
    kind: String,
    length: Vec<String>,
}

impl Handle for Content {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let status = StatusCode::from_u16(self.status)?;
        let pieces =
            || ["abc", "def"].map(|piece| Ok::<_, std::convert::Infallible>(Bytes::from_static(piece.as_bytes())));
        let mut response = match &*self.kind {
            "error" => return Err(Error::new(status)),
            "empty" => Response::empty(status),
            "mistaken" => {
                Response::new(skep::Body::stream(Mistaken(skep::Body::from_stream(Pieces(Vec::from(pieces()))))))
            }
            "stream" => Response::new(skep::Body::from_stream(Pieces(Vec::from(pieces())))),
            "file" => Response::new(super::file()),
            _ => Response::text("abcdef"),
        };
        for length in &self.length {
            response.headers_mut().append(CONTENT_LENGTH, HeaderValue::try_from(length)?);
        }
        Ok(response.with_status(status))
    }
}

struct Pieces(Vec<std::result::Result<Bytes, std::convert::Infallible>>);

impl futures_core::Stream for Pieces {
    type Item = std::result::Result<Bytes, std::convert::Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        std::task::Poll::Ready((!self.0.is_empty()).then(|| self.0.remove(0)))
    }
}

/// A body that says of itself that it has 9 bytes.
struct Mistaken(skep::Body);

impl http_body::Body for Mistaken {
    type Data = Bytes;
    type Error = skep::body::BodyError;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<std::result::Result<http_body::Frame<Bytes>, Self::Error>>> {
        std::pin::Pin::new(&mut self.0).poll_frame(cx)
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(9)
    }
}

#[derive(Service)]
#[service(POST "/raw", cross_origin = "tests have no origin")]
pub(crate) struct RawBody;

impl Handle for RawBody {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(cx.read_body().await?.len().to_string()))
    }
}

#[derive(Service)]
#[service(POST "/form", cross_origin = "tests have no origin")]
pub(crate) struct NameForm {
    #[form]
    name: String,
}

impl Handle for NameForm {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.name))
    }
}

#[derive(Service)]
#[service(POST "/json", cross_origin = "tests have no origin")]
pub(crate) struct Json {
    #[json]
    name: String,
}

impl Handle for Json {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.name))
    }
}

#[derive(Service)]
#[service(POST "/files", cross_origin = "tests have no origin")]
pub(crate) struct Files {
    #[form]
    file: Upload,
}

impl Handle for Files {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.file.file_name().to_owned()))
    }
}

/// Says what it reads of the fields.
#[derive(Service)]
#[service(GET "/fields")]
pub(crate) struct Fields {
    #[header("x-list")]
    list: Vec<String>,
    #[header("x-one")]
    one: Option<String>,
    #[header("x-number")]
    number: Option<u8>,
}

impl Handle for Fields {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let cookies = cx.request_headers().get_all(COOKIE).iter().count();
        let last = cx.cookie("last").unwrap_or_default();
        let Self { list, one, number } = self;
        Ok(Response::text(format!("{list:?} {one:?} {number:?} {} {cookies} {last}", cx.language())))
    }
}

/// All of them.
pub(crate) const SERVICES: skep::Services = skep::services![Content, RawBody, NameForm, Json, Files, Fields];
