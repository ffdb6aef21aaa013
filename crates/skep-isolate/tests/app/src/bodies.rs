//! What follows the header block; and no answer at all.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body::Frame;
use skep::Body;
use skep::error_page::Failure;
use skep::html::{DOCTYPE, Document};
use skep::prelude::*;

#[derive(Service)]
#[service(POST "/echo", body = 1_000_000)]
pub(crate) struct Echo;

impl Handle for Echo {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let body = cx.read_body().await?;
        tracing::warn!(target: "app", bytes = body.len(), "an echo\nof two lines");
        Ok(Response::new(body))
    }
}

/// A body that is made while it is sent.
pub(crate) struct Count(u32);

impl http_body::Body for Count {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        if self.0 == 0 {
            return Poll::Ready(None);
        }
        self.0 -= 1;
        Poll::Ready(Some(Ok(Frame::data(format!("{:>9999}\n", self.0).into()))))
    }
}

#[derive(Service)]
#[service(GET "/count/{pieces}")]
pub(crate) struct Pieces {
    pieces: u32,
}

impl Handle for Pieces {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::new(Body::stream(Count(self.pieces))))
    }
}

/// The application's own page for what goes wrong. It takes its time over what took too long.
pub(crate) fn sorry(failure: &Failure) -> Html<Document> {
    let begun = Instant::now();
    while failure.status() == StatusCode::GATEWAY_TIMEOUT && begun.elapsed() < Duration::from_millis(500) {}
    html! {
        (DOCTYPE)
        html lang="en" { head { title { (failure.title()) } } body { p { "Sorry: " (failure.message()) " " (failure.id()) } } }
    }
}

#[derive(Service)]
#[service(GET "/forever")]
pub(crate) struct Forever;

impl Handle for Forever {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        loop {
            std::hint::spin_loop();
        }
    }
}

#[derive(Service)]
#[service(GET "/panic")]
pub(crate) struct Panic;

impl Handle for Panic {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        panic!("nobody is at home")
    }
}
