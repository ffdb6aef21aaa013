//! A browser that is signed in again by remember-me has its new token even if the page fails: else its next visit would
//! look like a theft.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use skep::header::SET_COOKIE;
use skep::prelude::*;
use skep::{Body, Request};
use skep_people::Signed;
use tower_http::timeout::TimeoutLayer;

use super::app::{User, app};
use super::staying::{REMEMBER, is_over, remembered};
use super::*;

#[derive(Service)]
#[service(GET "/fail/{how}")]
struct Fail {
    how: String,
    #[guard]
    _user: Signed<User>,
}

impl Handle for Fail {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        match &*self.how {
            "panic" => panic!("on purpose"),
            "error" => Err(Error::internal("on purpose")),
            "hang" => std::future::pending().await,
            _ => {
                let db = cx.transaction().await?;
                db.execute(query("pragma defer_foreign_keys = on", ())).await?;
                db.execute(query("insert into recovery_code (user, hash) values (12345, '')", ())).await?;
                Ok(Response::text("what the commit says comes later"))
            }
        }
    }
}

/// The browser visits again, when its old token is not valid any more.
fn comes_again(world: &World, client: &Client, before: &str) {
    assert_ne!(client.cookie(REMEMBER).unwrap(), before);
    world.clock.advance(Duration::from_mins(2));
    is_over(world);
    assert_eq!(client.get("/profile").text(), ADA);
    assert!(!world.events().contains("used twice"), "{}", world.events());
}

fn world(app: App) -> World {
    World::of(app.serve(services![Fail])).and_ada().0
}

#[test]
fn a_page_that_fails_sends_the_new_token() {
    for how in ["panic", "error", "commit"] {
        let world = world(app());
        let client = remembered(&world);
        is_over(&world);
        let before = client.cookie(REMEMBER).unwrap();
        let answer = client.get(&format!("/fail/{how}"));
        assert_eq!((answer.status().as_u16(), answer.header("cache-control")), (500, Some("no-store")), "{how}");
        comes_again(&world, &client, &before);
    }
}

#[test]
fn a_layer_of_tower_that_gives_up_sends_the_new_token() {
    let late = TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, Duration::from_millis(50));
    let world = world(app().layer(late));
    let client = remembered(&world);
    is_over(&world);
    let before = client.cookie(REMEMBER).unwrap();
    assert_eq!(client.get("/fail/hang").status(), 504);
    comes_again(&world, &client, &before);
}

#[test]
fn what_is_mounted_behind_a_guard_sends_the_new_token() {
    let router = axum::Router::new().route("/", axum::routing::get(async || "old"));
    let world = world(app().mount_service("/old", router).guard::<Signed<User>>("/old"));
    let client = remembered(&world);
    is_over(&world);
    let before = client.cookie(REMEMBER).unwrap();
    let answer = client.get("/old");
    assert_eq!((answer.text(), answer.header("cache-control")), ("old", Some("private, no-cache")));
    comes_again(&world, &client, &before);
}

/// A request of a remembered browser whose handler never responds.
fn hangs(local: &skep::LocalSite, cookie: &str) -> Pin<Box<impl Future<Output = Response> + use<>>> {
    let request = http::Request::get("/fail/hang").header("cookie", format!("{REMEMBER}={cookie}"));
    let (parts, ()) = request.body(()).unwrap().into_parts();
    let mut running = Box::pin(local.answer(Request::new(parts, Body::empty())));
    for _ in 0..100 {
        assert!(matches!(running.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending));
    }
    running
}

#[test]
fn a_request_that_takes_too_long_leaves_its_cookies_to_its_own_error_page_only() {
    let world = world(app());
    let (local, error) = (world.site.local(), Error::new(StatusCode::SERVICE_UNAVAILABLE));
    let (late, gone) = (remembered(&world), remembered(&world));
    is_over(&world);
    let late = hangs(&local, &late.cookie(REMEMBER).unwrap());
    // The client of this one is gone, so nobody may have its cookies.
    drop(hangs(&local, &gone.cookie(REMEMBER).unwrap()));
    let failure = local.failure(&error);
    assert!(!failure.headers().contains_key(SET_COOKIE));
    let failure = local.abandon(|| drop(late), &error);
    let cookies: Vec<_> = failure.headers().get_all(SET_COOKIE).iter().map(|value| value.to_str().unwrap()).collect();
    assert_eq!(cookies.len(), 3, "the session, the token and the device: {cookies:?}");
    assert_eq!(failure.headers()["cache-control"], "no-store");
    let failure = local.abandon(|| (), &error);
    assert!(!failure.headers().contains_key(SET_COOKIE), "they are sent once");
    let token = cookies.iter().find_map(|cookie| cookie.strip_prefix(&format!("{REMEMBER}="))).unwrap();
    world.clock.advance(Duration::from_mins(2));
    let (client, token) = (world.client(), token.split(';').next().unwrap());
    let again = client.request(skep::Method::GET, "/profile").header("cookie", &format!("{REMEMBER}={token}")).send();
    assert_eq!(again.text(), ADA);
}
