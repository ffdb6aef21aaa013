//! Layers of tower around the whole application.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use tower_layer::Layer;
use tower_service::Service;

use super::{call, from_http, into_http};
use crate::application::app::App;
use skep_http::body::{Body, BodyError};
use skep_http::request::Request;
use skep_http::response::Response;

impl App {
    /// Puts a layer of tower around the whole application: services, files, what is mounted, 404s and error pages. It
    /// runs before routing, and the layer of the first call is the outermost one. For code that knows the service, the
    /// user or the transaction, use [`wrap`](Self::wrap).
    ///
    /// ```
    /// use skep::prelude::*;
    /// use tower_http::set_header::SetResponseHeaderLayer;
    ///
    /// let version = SetResponseHeaderLayer::overriding(skep::header::SERVER, skep::HeaderValue::from_static("hives"));
    /// let client = skep::test::Client::new(App::new().layer(version));
    /// assert_eq!(client.get("/nowhere").header("server"), Some("hives"));
    /// ```
    ///
    /// An error of a layer, such as a timeout, is a 500 whose cause is in the log.
    #[must_use]
    pub fn layer<L, B>(mut self, layer: L) -> Self
    where
        L: Layer<Inner> + Send + Sync + 'static,
        L::Service: Service<http::Request<Body>, Response = http::Response<B>> + Clone + 'static,
        <L::Service as Service<http::Request<Body>>>::Error: Into<BodyError>,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BodyError>,
    {
        self.layers.push(Box::new(move |inside| {
            let service = layer.layer(Inner(inside));
            Stack(Rc::new(move |request| Box::pin(call(service.clone(), request))))
        }));
        self
    }
}

/// A layer without its type.
pub(crate) type MakeLayer = Box<dyn Fn(Stack) -> Stack + Send + Sync>;

type Called = Pin<Box<dyn Future<Output = crate::Result>>>;

/// An application with some of its layers, on one thread.
#[derive(Clone)]
pub(crate) struct Stack(Rc<dyn Fn(http::Request<Body>) -> Called>);

impl Stack {
    /// What is inside all layers.
    pub(crate) fn of<F>(answer: impl Fn(Request) -> F + 'static) -> Self
    where
        F: Future<Output = Response> + 'static,
    {
        Self(Rc::new(move |request| {
            let answering = answer(from_http(request));
            Box::pin(async move { Ok(answering.await) })
        }))
    }

    pub(crate) fn call(&self, request: Request) -> Called {
        (self.0)(into_http(request))
    }
}

/// The service inside a layer: what [`App::layer`] passes to it.
#[derive(Clone)]
pub struct Inner(Stack);

impl Service<http::Request<Body>> for Inner {
    type Response = http::Response<Body>;
    /// Errors are error pages by now, but for those of layers further inside.
    type Error = BodyError;
    type Future = InnerFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BodyError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> InnerFuture {
        InnerFuture((self.0.0)(request))
    }
}

/// The response of an [`Inner`].
pub struct InnerFuture(Called);

impl Future for InnerFuture {
    type Output = Result<http::Response<Body>, BodyError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx).map(|result| result.map(Response::into_http).map_err(|error| error.to_string().into()))
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Inner")
    }
}

impl fmt::Debug for InnerFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InnerFuture")
    }
}
