//! Requests that go through layers of tower.

use std::future::Future;
use std::mem;
use std::pin::pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::Either;
use http::request::Parts;

use super::Local;
use super::failures::About;
use crate::account::{self, Account};
use crate::body::Body;
use crate::error::Error;
use crate::nonce;
use crate::panic::CatchPanic;
use crate::request::{Peer, Request, RequestId};
use crate::response::Response;
use crate::tower::Stack;

/// Where the account of a request waits for its response, which a layer may replace.
#[derive(Clone, Default)]
struct AccountSlot(Arc<Mutex<Option<Box<Account>>>>);

impl AccountSlot {
    fn swap(&self, account: Option<Box<Account>>) -> Option<Box<Account>> {
        mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), account)
    }
}

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
                let Request { mut parts, body, peer, id, is_accounted } = request;
                let id = id.unwrap_or_else(|| inner.ids.next());
                let slot = parts.extensions.remove::<AccountSlot>();
                let responding = Self { inner }.respond(parts, body, peer, (id, is_accounted));
                async move {
                    let mut response = responding.await;
                    slot.and_then(|slot| slot.swap(response.take_account()));
                    response
                }
            });
            layers.iter().rev().fold(application, |inside, layer| layer(inside))
        });
        Some(stack.clone())
    }

    /// What a layer fails with, or panics with, is an error page.
    async fn through(self, layers: Stack, mut request: Request) -> Response {
        let (id, peer) = (request.id.unwrap_or_else(|| self.inner.ids.next()), request.peer);
        let slot = request.is_accounted.then(AccountSlot::default);
        if let Some(slot) = &slot {
            request.parts.extensions.insert(slot.clone());
        }
        let result = CatchPanic(pin!(layers.call(request))).await;
        let result = result.unwrap_or_else(|panicked| Err(Error::internal(panicked)));
        let mut response = result.unwrap_or_else(|error| {
            let mut nonce = nonce::Scope::default();
            let mut response = nonce.enter(|| self.fail(&error, id, &About::default()));
            self.site().resources.add_security_headers(&mut response, &nonce, peer);
            response
        });
        if let Some(slot) = slot {
            let mut account =
                slot.swap(None).or_else(|| abandoned(id)).unwrap_or_else(|| Box::new(Account::new(id.into())));
            account.cause = response.cause().map(str::to_owned).or(account.cause);
            response.set_account(Some(account));
        }
        response
    }
}

/// The account of the application's part, if a layer has abandoned that.
fn abandoned(id: RequestId) -> Option<Box<Account>> {
    account::take_abandoned().filter(|account| account.id == u64::from(id))
}
