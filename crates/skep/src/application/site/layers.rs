//! Requests that go through layers of tower.

use std::future::{Future, poll_fn};
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use http::{Method, StatusCode};
use skep_units::lock;
use skep_units::panic::CatchPanic;

use super::LocalSite;
use super::failures::About;
use super::headers::add_cookies;
use crate::application::tower::Stack;
use skep_html::nonce;
use skep_http::account::{self, Account};
use skep_http::body::Body;
use skep_http::cookie::{self, PendingCookies};
use skep_http::error::Error;
use skep_http::ext::{AccountExt as _, RequestExt as _, ResponseExt as _};
use skep_http::request::{Parts, Request, RequestId};
use skep_http::response::Response;

/// Where what a layer would lose waits: its response is another one, or has another body.
#[derive(Clone, Default)]
struct Aside(Arc<Mutex<Bypassed>>);

/// What of a response does not pass through the layers.
#[derive(Default)]
struct Bypassed {
    account: Option<Box<Account>>,
    /// A body that upgrades the connection.
    upgrade: Option<Body>,
}

impl Aside {
    fn replace(&self, bypassed: Bypassed) -> Bypassed {
        mem::replace(&mut *lock(&self.0), bypassed)
    }
}

impl LocalSite {
    /// Handles a request: through the layers, if there are any.
    pub(super) async fn respond_in_layers(&self, request: &mut Request, id: RequestId) -> Response {
        match self.layers() {
            Some(layers) => {
                let request = mem::replace(request, Request::new(Parts::default(), Body::empty()));
                // Boxed: the future of a request without layers need not have room for it.
                Box::pin(self.through(layers, request.with_id(id.into()))).await
            }
            None => self.respond(request, id).await,
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
            let application = Stack::of(move |mut request: Request| {
                let inner = inner.upgrade().expect("a request holds its application");
                let id = request.received().id.unwrap_or_else(|| inner.ids.next());
                let aside = request.received_mut().parts.extensions.remove::<Aside>();
                let local = Self { inner };
                async move {
                    let mut response = local.respond(&mut request, id).await;
                    if let Some(aside) = aside {
                        aside.replace(Bypassed { account: response.take_account(), upgrade: response.take_upgrade() });
                    }
                    response
                }
            });
            layers.iter().rev().fold(application, |inside, layer| layer(inside))
        });
        Some(stack.clone())
    }

    /// What a layer fails with, or panics with, is an error page.
    async fn through(&self, layers: Stack, mut request: Request) -> Response {
        let is_head = request.received().parts.method == Method::HEAD;
        let (id, peer) = (request.received().id.unwrap_or_else(|| self.inner.ids.next()), request.received().peer);
        let (aside, is_accounted) = (Aside::default(), request.received().is_accounted);
        request.received_mut().parts.extensions.insert(aside.clone());
        // A layer may abandon what is inside of it, and answer itself.
        let cookies = PendingCookies::default();
        let mut calling = Some(layers.call(request));
        let result = poll_fn(|task| {
            let (polled, left) = cookie::left_by(|| {
                let running = calling.as_mut().expect("not polled after completion");
                let polled = Pin::new(&mut CatchPanic(Pin::new(running))).poll(task);
                if polled.is_ready() {
                    calling = None;
                }
                polled
            });
            cookies.extend(left);
            polled
        });
        let result = result.await;
        let result = result.unwrap_or_else(|panicked| Err(Error::internal(panicked)));
        let mut response = result.unwrap_or_else(|error| {
            let mut nonce = nonce::Scope::default();
            let mut response = nonce.enter(|| self.fail(&error, id, &About::default()));
            self.site().resources.add_security_headers(&mut response, &nonce, peer);
            response
        });
        let Bypassed { account, upgrade } = aside.replace(Bypassed::default());
        if let Some(upgrade) = upgrade.filter(|_| response.status() == StatusCode::SWITCHING_PROTOCOLS) {
            *response.body_mut() = upgrade;
        }
        response.settle_again(is_head);
        add_cookies(&mut response, cookies.take());
        if is_accounted {
            let mut account = account.or_else(|| abandoned(id)).unwrap_or_else(|| Box::new(Account::new(id.into())));
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
