//! tower: axum's routers below a prefix, layers of tower-http around the application, the application in an axum
//! router.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::{Path, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use skep::prelude::*;
use skep::test::Client;
use skep::{Body, Method, Peer, Setup, Site};
use tower::limit::ConcurrencyLimitLayer;
use tower::{Layer, Service as _, ServiceExt};
use tower_http::compression::CompressionLayer;
use tower_http::cors::CorsLayer;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::TraceLayer;
use tower_http::validate_request::ValidateRequestHeaderLayer;

#[derive(Service)]
#[service(GET "/")]
struct Index;

impl Handle for Index {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.flash("seen");
        Ok(Response::text(format!("a page of some length, {}", "x".repeat(2000))))
    }
}

#[derive(Service)]
#[service(GET "/panic")]
struct Panic;

impl Handle for Panic {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        panic!("on purpose")
    }
}

/// Not `Send` while it waits, as most handlers are.
#[derive(Service)]
#[service(POST "/sum/{add}")]
struct Sum {
    add: u32,
}

impl Handle for Sum {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let sum = std::rc::Rc::new(std::cell::Cell::new(self.add));
        tokio::time::sleep(Duration::from_millis(1)).await;
        let body = cx.read_body().await?;
        sum.set(sum.get() + std::str::from_utf8(&body)?.parse::<u32>()?);
        Ok(Response::text(format!("{} {:?}", sum.get(), cx.peer().address)))
    }
}

#[derive(Service)]
#[service(GET "/for-ever")]
struct ForEver;

impl Handle for ForEver {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        /// Tells that its request is gone.
        struct Gone(Arc<Mutex<bool>>);

        impl Drop for Gone {
            fn drop(&mut self) {
                *self.0.lock().unwrap() = true;
            }
        }

        let _gone = Gone(cx.state::<Arc<Mutex<bool>>>().clone());
        std::future::pending().await
    }
}

fn app() -> App {
    App::new().serve(services![Index, Panic, Sum, ForEver]).state(Arc::new(Mutex::new(false)))
}

/// axum's example of a key-value store, with a state, extractors and a fallback.
fn router() -> Router {
    type Store = Arc<Mutex<Vec<String>>>;
    Router::new()
        .route("/", get(async || "the root"))
        .route("/words", post(async |State(words): State<Store>, word: String| words.lock().unwrap().push(word)))
        .route("/words", get(async |State(words): State<Store>| Json(words.lock().unwrap().clone())))
        .route(
            "/words/{nth}",
            get(async |State(words): State<Store>, Path(nth): Path<usize>| words.lock().unwrap()[nth].clone()),
        )
        .route(
            "/peer",
            get(async |request: axum::extract::Request| format!("{}", request.extensions().get::<Peer>().is_some())),
        )
        .fallback(async |uri: http::Uri| (StatusCode::IM_A_TEAPOT, uri.to_string()))
        .with_state(Store::default())
}

#[test]
fn a_router_of_axum_answers_below_its_prefix() {
    let client = Client::new(app().mount_service("/old", router()));
    assert_eq!(client.get("/old").text(), "the root");
    assert_eq!(client.get("/old/").text(), "the root");
    assert_eq!(client.request(Method::POST, "/old/words").body("text/plain", "honey").send().status(), 200);
    assert_eq!(client.get("/old/words").text(), r#"["honey"]"#);
    assert_eq!(client.get("/old/words/0").text(), "honey");
    assert_eq!(client.get("/old/peer").text(), "true");
    let answer = client.get("/old/nothing?a=b%20c");
    assert_eq!((answer.status().as_u16(), answer.text()), (418, "/nothing?a=b%20c"));
    assert!(client.get("/").text().starts_with("a page"));
    assert_eq!(client.get("/older").status(), 404);
}

/// In a router of its own, so that it has no limits of axum.
fn bodies() -> Router {
    let read = async |body: axum::body::Body| match axum::body::to_bytes(body, usize::MAX).await {
        Ok(bytes) => format!("read {}", bytes.len()),
        Err(error) => format!("failed: {error}"),
    };
    Router::new().route("/", post(read))
}

/// A body in pieces whose length nobody says, and why it ends.
async fn send(local: &skep::LocalSite, path: &str, pieces: usize, error: Option<StatusCode>) -> (u16, String) {
    let failed = error.map(|status| Err(skep::body::BodyFailure::new(status, "as asked")));
    let body = (0..pieces).map(|_| Ok(vec![b'x'; 1000])).chain(failed);
    let request = http::Request::post(path).header("host", "x").body(()).unwrap();
    let body = Body::from_stream(futures_util::stream::iter(body));
    let response = local.answer(skep::Request::new(request.into_parts().0, body)).await.into_http();
    let status = response.status().as_u16();
    (status, String::from_utf8_lossy(&response.into_body().collect(u64::MAX).await.unwrap()).into_owned())
}

#[test]
fn limits_of_bodies_hold_for_what_is_mounted() {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    setup.limits.body = 10_000;
    let app = app().mount_service("/old", bodies()).mount_service("/more", bodies()).mount_body_limit("/more/", 20_000);
    let site = Arc::new(app.open(setup).unwrap());
    let client = Client::of_site(&site);
    for (path, limit) in [("/old/", 10_000), ("/more/", 20_000)] {
        for (bytes, status) in [(0, 200), (limit, 200), (limit + 1, 413), (5 * limit, 413)] {
            let answer = client.request(Method::POST, path).body("text/plain", "x".repeat(bytes)).send();
            assert_eq!(answer.status().as_u16(), status, "{path} {bytes}");
            assert_eq!(answer.text() == format!("read {bytes}"), status == 200, "{path} {bytes}: {}", answer.text());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let local = site.local();
        let pieces = limit / 1000;
        for (pieces, error, status) in [
            (pieces, None, 200),
            (pieces + 1, None, 413),
            (100 * pieces, None, 413),
            (1, Some(StatusCode::REQUEST_TIMEOUT), 408),
            (0, Some(StatusCode::BAD_REQUEST), 400),
        ] {
            let (answered, text) = runtime.block_on(send(&local, path, pieces, error));
            assert_eq!(answered, status, "{path} {pieces} {error:?}: {text}");
        }
    }
}

#[test]
fn a_limit_for_nothing_does_not_start() {
    let app = app().mount_body_limit("/old", 1).mount_service("/old", bodies());
    let mut setup = Setup::default();
    setup.temporary_database = true;
    let error = app.open(setup).unwrap_err().to_string();
    assert!(error.contains("mount_body_limit(\"/old\", ..): nothing is mounted there"), "{error}");
}

#[test]
fn a_target_without_a_path_does_not_reach_a_router() {
    let app = app().mount_service("/", Router::new().fallback(async || "reached"));
    let mut setup = Setup::default();
    setup.temporary_database = true;
    let local = Arc::new(app.open(setup).unwrap()).local();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for (method, target, status) in [
        (Method::CONNECT, "host:80", 501),
        (Method::CONNECT, "/", 501),
        (Method::GET, "host:80", 400),
        (Method::GET, "index.html", 400),
        (Method::POST, "localhost", 400),
        (Method::GET, "*", 400),
        (Method::OPTIONS, "*", 204),
        (Method::GET, "/there", 200),
        (Method::TRACE, "/there", 200),
    ] {
        let request = http::Request::builder().method(&method).uri(target).header("host", "x").body(()).unwrap();
        let request = skep::Request::new(request.into_parts().0, Body::empty());
        assert_eq!(runtime.block_on(local.answer(request)).status(), status, "{method} {target}");
    }
}

/// The fields of a request, and the coding of its response.
type Case<'c> = (&'c [(&'static str, &'c str)], Option<&'c str>);

#[test]
fn responses_of_a_router_are_compressed_unless_that_leaks() {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    setup.compression.codings = vec![skep::compression::Coding::Brotli, skep::compression::Coding::Gzip];
    let page = || get(async || axum::response::Html("a page of honey ".repeat(300)));
    let app = App::new().mount_service("/old", Router::new().route("/", page()));
    let client = Client::with_setup(app, setup).without_fetch_metadata();
    let both = ("accept-encoding", "gzip, br");
    let cases: &[Case<'_>] = &[
        (&[both], Some("br")),
        (&[("accept-encoding", "gzip")], Some("gzip")),
        (&[], None),
        (&[both, ("cookie", "a=b")], None),
        (&[both, ("cookie", "a=b"), ("sec-fetch-site", "cross-site")], None),
        (&[both, ("cookie", "a=b"), ("sec-fetch-site", "same-origin")], Some("br")),
        (&[both, ("authorization", "Bearer x")], None),
        (&[both, ("authorization", "Bearer x"), ("sec-fetch-site", "none")], Some("br")),
    ];
    for (fields, coding) in cases {
        for method in [Method::GET, Method::HEAD] {
            let request = client.request(method, "/old");
            let answer = fields.iter().fold(request, |request, (name, value)| request.header(name, value)).send();
            assert_eq!(answer.header("content-encoding"), *coding, "{fields:?}");
            assert_eq!(answer.header("vary"), Some("accept-encoding"), "{fields:?}");
        }
    }
}

#[test]
fn what_panics_in_a_router_costs_its_request() {
    let router = Router::new().route("/", get(async || -> &'static str { panic!("on purpose") }));
    let client = Client::new(app().mount_service("/old", router));
    let answer = client.get("/old");
    assert_eq!(answer.status(), 500);
    assert!(answer.cause().unwrap().contains("on purpose"));
    assert_eq!(client.get("/").status(), 200);
}

#[test]
fn layers_of_tower_http_are_around_everything() {
    let client = Client::new(
        app()
            .mount_service("/old", router())
            .layer(TraceLayer::new_for_http())
            .layer(CorsLayer::permissive())
            .layer(CompressionLayer::new())
            .layer(ConcurrencyLimitLayer::new(8)),
    );
    let answer =
        client.request(Method::GET, "/").header("accept-encoding", "gzip").header("origin", "https://a.example").send();
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert!(answer.header("set-cookie").is_some() && answer.header("x-content-type-options").is_some());
    assert_eq!(&answer.body()[..2], b"\x1f\x8b");
    assert!(answer.body().len() < 500);
    for (url, status) in [("/nowhere", 404), ("/panic", 500), ("/old/nothing", 418)] {
        let answer = client.get(url);
        assert_eq!(
            (answer.status().as_u16(), answer.header("access-control-allow-origin")),
            (status, Some("*")),
            "{url}"
        );
    }
    let preflight = client.request(Method::OPTIONS, "/").header("origin", "https://a.example");
    assert_eq!(
        preflight.header("access-control-request-method", "PATCH").send().header("access-control-allow-methods"),
        Some("*")
    );
}

#[test]
#[expect(deprecated, reason = "it is the layer that everybody knows")]
fn a_layer_may_refuse_before_anything_is_read() {
    let client = Client::new(app().layer(ValidateRequestHeaderLayer::bearer("secret")));
    assert_eq!(client.get("/").status(), 401);
    assert_eq!(client.get("/nowhere").status(), 401);
    assert_eq!(client.request(Method::GET, "/").header("authorization", "Bearer secret").send().status(), 200);
}

#[test]
fn a_layer_may_end_a_request_that_takes_too_long() {
    let timeout = TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, Duration::from_millis(20));
    let app = app().layer(timeout);
    let site = site(app);
    let client = Client::of_site(&site);
    assert_eq!(client.get("/for-ever").status(), 504);
    assert!(*site.state::<Arc<Mutex<bool>>>().lock().unwrap(), "its handler is dropped");
}

/// Writes its name into a header field, in the order in which responses pass.
#[derive(Clone)]
struct Named<S>(&'static str, S);

struct Name(&'static str);

impl<S> Layer<S> for Name {
    type Service = Named<S>;

    fn layer(&self, inner: S) -> Named<S> {
        Named(self.0, inner)
    }
}

impl<S> tower::Service<http::Request<Body>> for Named<S>
where
    S: tower::Service<http::Request<Body>, Response = http::Response<Body>>,
    S::Future: 'static,
    S::Error: 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = std::pin::Pin<Box<dyn Future<Output = std::result::Result<S::Response, S::Error>>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<std::result::Result<(), S::Error>> {
        self.1.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        assert_ne!(request.uri().path(), "/layer-panics", "on purpose");
        let (name, answering) = (self.0, self.1.call(request));
        Box::pin(async move {
            let mut response = answering.await?;
            response.headers_mut().append("x-layer", skep::HeaderValue::from_static(name));
            Ok(response)
        })
    }
}

#[test]
fn the_layer_of_the_first_call_is_the_outermost() {
    let client = Client::new(app().layer(Name("outer")).layer(Name("inner")));
    let answer = client.get("/");
    let names: Vec<_> = answer.headers().get_all("x-layer").iter().collect();
    assert_eq!(names, ["inner", "outer"]);
}

#[test]
fn a_layer_that_fails_or_panics_is_an_error_page() {
    let client = Client::new(app().layer(Name("outer")));
    let answer = client.get("/layer-panics");
    assert_eq!(answer.status(), 500);
    assert!(answer.cause().unwrap().contains("on purpose"), "{:?}", answer.cause());
    assert!(answer.header("content-security-policy").is_some(), "it is a page like all others");
    assert_eq!(client.get("/").status(), 200);
}

fn site(app: App) -> Arc<Site> {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    Arc::new(app.open(setup).unwrap())
}

/// The application as a service, on a thread of its own.
fn served(site: &Arc<Site>) -> skep::tower::AppService {
    let (service, driver) = skep::tower::service(site);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    std::thread::spawn(move || runtime.block_on(driver.run()));
    service
}

async fn text(response: http::Response<impl Into<Body>>) -> String {
    let bytes = response.into_body().into().collect(1 << 20).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What a server counts of a request that passes through layers.
async fn account(app: App, path: &str) -> skep::account::Account {
    let (parts, ()) = http::Request::get(path).body(()).unwrap().into_parts();
    let request = skep::Request::new(parts, Body::empty()).with_id(7).with_account(true);
    *site(app).local().answer(request).await.take_account().unwrap()
}

#[tokio::test]
async fn layers_keep_what_a_request_cost() {
    let none = account(app().layer(CompressionLayer::new()), "/nowhere").await;
    let page = account(app().layer(CompressionLayer::new()), "/").await;
    assert_eq!((none.id, page.id, none.service), (7, 7, 0));
    assert_ne!(page.service, 0, "the service is known");
    let panic = account(app().layer(Name("outer")), "/panic").await;
    assert!(panic.cause.unwrap().contains("on purpose"));
    let layer_panic = account(app().layer(Name("outer")), "/layer-panics").await;
    assert!(layer_panic.cause.unwrap().contains("on purpose") && layer_panic.service == 0);
    let timeout = TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, Duration::from_millis(20));
    assert_ne!(account(app().layer(timeout), "/for-ever").await.service, 0, "the layer's response replaced its own");
}

#[tokio::test]
async fn the_application_is_a_service_of_an_axum_router() {
    let service = served(&site(app()));
    let router: Router =
        Router::new().route("/own", get(async || "axum's")).fallback_service(service).layer(TraceLayer::new_for_http());
    let ask = async |method: Method, path: &str, body: &str| {
        let mut request =
            http::Request::builder().method(method).uri(path).body(axum::body::Body::from(body.to_owned())).unwrap();
        request.extensions_mut().insert(Peer::new("192.0.2.1:7".parse().ok(), false));
        router.clone().oneshot(request).await.unwrap().map(Body::stream)
    };
    assert_eq!(text(ask(Method::GET, "/own", "").await).await, "axum's");
    assert!(text(ask(Method::GET, "/", "").await).await.starts_with("a page"));
    assert_eq!(ask(Method::GET, "/nowhere", "").await.status(), 404);
    let sums = (0..50).map(|add| {
        let ask = &ask;
        async move {
            assert_eq!(
                text(ask(Method::POST, &format!("/sum/{add}"), "7").await).await,
                format!("{} Some(192.0.2.1:7)", add + 7)
            );
        }
    });
    futures_util::future::join_all(sums).await;
}

#[tokio::test]
async fn an_abandoned_request_is_dropped() {
    let site = site(app());
    let mut service = served(&site);
    let request = http::Request::get("/for-ever").body(Body::empty()).unwrap();
    let waiting = tokio::time::timeout(Duration::from_millis(20), service.call(request));
    assert!(waiting.await.is_err());
    // The next request shows that the thread has seen it.
    service.call(http::Request::get("/").body(Body::empty()).unwrap()).await.unwrap();
    assert!(*site.state::<Arc<Mutex<bool>>>().lock().unwrap());
}

#[tokio::test]
async fn without_its_driver_the_application_is_unavailable() {
    let (mut service, driver) = skep::tower::service(&site(app()));
    drop(driver);
    assert_eq!(service.call(http::Request::get("/").body(Body::empty()).unwrap()).await.unwrap().status(), 503);
}

#[allow(dead_code, reason = "that it compiles is the test")]
fn the_service_may_go_to_any_thread(service: skep::tower::AppService) -> impl Send + Sync + Clone {
    service
}
