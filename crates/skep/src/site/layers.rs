//! Requests that go through layers of tower.

use std::future::Future;
use std::pin::pin;
use std::rc::Rc;

use futures_util::future::Either;
use http::request::Parts;

use super::Local;
use super::failures::About;
use crate::body::Body;
use crate::error::Error;
use crate::nonce;
use crate::panic::CatchPanic;
use crate::request::{Peer, Request, RequestId};
use crate::response::Response;
use crate::tower::Stack;

impl Local {
    /// Handles a request: through the layers, if there are any.
    pub(super) fn respond_in_layers(
        &self,
        parts: Parts,
        body: Body,
        peer: Peer,
        (id, is_accounted): (RequestId, bool),
    ) -> impl Future<Output = Response> + use<> {
        match self.layers() {
            Some(layers) => {
                Either::Left(self.clone().through(layers, Request { parts, body, peer, id: Some(id), is_accounted }))
            }
            None => Either::Right(self.respond(parts, body, peer, (id, is_accounted))),
        }
    }

    /// The application with its layers, put together on the first request of each thread.
    fn layers(&self) -> Option<Stack> {
        let layers = &self.site().layers;
        if layers.is_empty() {
            return None;
        }
        let stack = self.inner.stack.get_or_init(|| {
            let inner = Rc::downgrade(&self.inner);
            let application = Stack::of(move |request| {
                let inner = inner.upgrade().expect("a request holds its application");
                let Request { parts, body, peer, id, is_accounted } = request;
                let id = id.unwrap_or_else(|| inner.ids.next());
                Self { inner }.respond(parts, body, peer, (id, is_accounted))
            });
            layers.iter().rev().fold(application, |inside, layer| layer(inside))
        });
        Some(stack.clone())
    }

    /// What a layer fails with, or panics with, is an error page.
    async fn through(self, layers: Stack, request: Request) -> Response {
        let (id, peer) = (request.id.unwrap_or_else(|| self.inner.ids.next()), request.peer);
        let result = CatchPanic(pin!(layers.call(request))).await;
        let result = result.unwrap_or_else(|panicked| Err(Error::internal(panicked)));
        result.unwrap_or_else(|error| {
            let mut nonce = nonce::Scope::default();
            let mut response = nonce.enter(|| self.fail(&error, id, &About::default()));
            self.site().resources.add_security_headers(&mut response, &nonce, peer);
            response
        })
    }
}
