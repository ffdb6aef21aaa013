//! Pages as bodies: a whole one, and one that is sent while it is made.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use http_body::Frame;

use super::own_thread::OwnThread;
use super::{Body, BodyError, ELSEWHERE};
use crate::log::{self, RequestLog};
use skep_html::Html;
use skep_html::nonce::Scope;

impl<C, H> From<Html<C, H>> for Body {
    /// The bytes are not copied, and their memory goes back to the pool once they are sent.
    fn from(html: Html<C, H>) -> Self {
        Bytes::from(html).into()
    }
}

/// Makes a body of pieces that come one after another: the head of a page can be on its way while a query still runs.
///
/// An error ends the body where it is, so that the client sees that the page is not whole.
///
/// ```
/// use futures_util::stream::{self, StreamExt};
/// use skep::html::Html;
/// use skep::{Response, html};
///
/// async fn row(number: u32) -> Result<Html, std::io::Error> {
///     Ok(html! { p { (number) } })
/// }
///
/// let head = stream::iter([Ok(html! { h1 { "Rows" } })]);
/// let rows = stream::iter(1..=1000).then(row);
/// let response = Response::html_stream(head.chain(rows));
/// assert_eq!(response.body().len(), None);
/// ```
pub fn stream<C, H, S, E>(pieces: S) -> Body
where
    C: 'static,
    H: 'static,
    S: Stream<Item = Result<Html<C, H>, E>> + 'static,
    E: Into<BodyError> + 'static,
{
    // The header fields, which name the nonce, are sent before the pieces are made.
    let nonce = Scope::share().inspect(Scope::draw).unwrap_or_default();
    let stream = OwnThread::new(Box::pin(pieces));
    Body::stream(Pieces { stream, nonce, log: log::share().unwrap_or_default() })
}

struct Pieces<S> {
    stream: OwnThread<Pin<Box<S>>>,
    nonce: Scope,
    log: RequestLog,
}

impl<C, H, S, E> http_body::Body for Pieces<S>
where
    S: Stream<Item = Result<Html<C, H>, E>>,
    E: Into<BodyError>,
{
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Self { stream, nonce, log } = &mut *self;
        let Some(stream) = stream.get_mut() else { return Poll::Ready(Some(Err(ELSEWHERE.into()))) };
        loop {
            return Poll::Ready(match ready!(log.enter(|| nonce.enter(|| stream.as_mut().poll_next(cx)))) {
                // An empty chunk would end a chunked body.
                Some(Ok(html)) if html.is_empty() => continue,
                Some(Ok(html)) => Some(Ok(Frame::data(html.into()))),
                Some(Err(error)) => Some(Err(error.into())),
                None => None,
            });
        }
    }
}
