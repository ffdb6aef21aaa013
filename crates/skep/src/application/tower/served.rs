//! The application as a service of tower.
//!
//! Handlers stay on one thread, and services of tower move between threads: requests go through a channel to a
//! [`Driver`].

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_channel::{mpsc, oneshot};
use futures_core::Stream;
use futures_util::stream::FuturesUnordered;
use http::StatusCode;
use tower_service::Service;

use super::pumped::pumped;
use super::{body, from_http};
use crate::application::site::{LocalSite, Site};
use crate::base::cancel::unless_canceled;
use skep_http::body::{Body, BodyError};
use skep_http::ext::BodyExt as _;
use skep_http::request::Request;
use skep_http::response::Response;

struct Job {
    request: Request,
    response: oneshot::Sender<Response>,
}

/// An application as a service, and what runs its handlers, which is to be given a thread:
///
/// ```
/// use std::sync::Arc;
/// use skep::prelude::*;
/// # #[derive(Service)] #[service(GET "/")] struct Index;
/// # impl Handle for Index { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("hello")) } }
/// # fn app() -> App { App::new().serve(services![Index]) }
///
/// let mut setup = skep::Setup::default();
/// setup.data = "data".into(); // without it, nothing is kept
/// # setup.data = std::path::PathBuf::new();
/// let site = Arc::new(app().open(setup)?);
/// let (service, driver) = skep::tower::service(&site);
/// std::thread::spawn(move || {
///     tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(driver.run());
/// });
/// let router: axum::Router = axum::Router::new().fallback_service(service); // for axum::serve
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Jobs, supervision and all else that a server does besides answering are not part of it.
pub fn service(site: &Arc<Site>) -> (AppService, Driver) {
    let (sender, jobs) = mpsc::unbounded();
    (AppService { sender }, Driver { site: Arc::clone(site), jobs })
}

/// An application as a service of tower, which any thread may call: [`service`]. The peer of a request is what its
/// extensions have as [`Peer`](crate::Peer).
#[derive(Clone)]
pub struct AppService {
    sender: mpsc::UnboundedSender<Job>,
}

/// Runs the handlers of an [`AppService`].
#[must_use = "an application answers as long as its driver runs"]
pub struct Driver {
    site: Arc<Site>,
    jobs: mpsc::UnboundedReceiver<Job>,
}

impl Driver {
    /// Answers requests on this thread, until the last [`AppService`] is gone and what it was asked is answered.
    /// Streams are made here, too, as they are read elsewhere.
    pub async fn run(self) {
        let Self { site, jobs } = self;
        let local = site.local();
        let (mut jobs, mut running) = (pin!(jobs), pin!(FuturesUnordered::new()));
        poll_fn(|cx| {
            let mut is_closed = false;
            loop {
                match jobs.as_mut().poll_next(cx) {
                    Poll::Ready(Some(Job { request, response })) => {
                        running.push(answer(&local, request, response));
                    }
                    Poll::Ready(None) => {
                        is_closed = true;
                        break;
                    }
                    Poll::Pending => break,
                }
            }
            while let Poll::Ready(Some(())) = running.as_mut().poll_next(cx) {}
            if is_closed && running.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

/// Answers, and then makes the rest of a body that goes on, which may own what is of this thread.
async fn answer(local: &LocalSite, request: Request, sender: oneshot::Sender<Response>) {
    let mut rest = None;
    let response = async {
        let mut response = local.answer(request).await;
        if response.body().is_stream() {
            rest = Some(pumped(response.body_mut()));
        }
        response
    };
    unless_canceled(response, sender).await;
    if let Some(rest) = rest {
        rest.await;
    }
}

impl<B> Service<http::Request<B>> for AppService
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BodyError>,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = AppFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> AppFuture {
        let (response, receiver) = oneshot::channel();
        // Without a driver the receiver hears of it at once.
        let _ = self.sender.unbounded_send(Job { request: from_http(request.map(body)), response });
        AppFuture(receiver)
    }
}

/// The response of an [`AppService`]. Dropping it drops the request.
pub struct AppFuture(oneshot::Receiver<Response>);

impl Future for AppFuture {
    type Output = Result<http::Response<Body>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let gone = |oneshot::Canceled| {
            Response::text("the application has ended").with_status(StatusCode::SERVICE_UNAVAILABLE)
        };
        Pin::new(&mut self.0).poll(cx).map(|response| Ok(response.unwrap_or_else(gone).into_http()))
    }
}

impl fmt::Debug for AppService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AppService")
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("site", &self.site).finish_non_exhaustive()
    }
}

impl fmt::Debug for AppFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AppFuture")
    }
}
