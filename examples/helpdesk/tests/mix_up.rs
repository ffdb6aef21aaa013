//! Requests of two users, interleaved on one thread and on several at once: what one gets is never the other's.

#[path = "support/common.rs"]
mod common;

use std::sync::Arc;
use std::thread;

use common::{CARLA, Desk, KARL};
use futures_util::future::join_all;
use skep::body::Body;
use skep::offload::Offload;
use skep::test::Client;
use skep::{LocalSite, Request, StatusCode};

/// Blocking work goes to other threads, as in a server. So a request waits in its middle, and others go on.
struct Threads;

impl Offload for Threads {
    fn run(&self, job: Box<dyn FnOnce() + Send>) {
        thread::spawn(job);
    }
}

#[derive(Clone)]
struct User {
    name: &'static str,
    other: &'static str,
    ticket: u32,
    cookie: String,
}

impl User {
    fn new(desk: &Desk, email: &str, name: &'static str, other: &'static str, ticket: u32) -> Self {
        let session = desk.signed_in(email).cookie("skep-session").expect("a session");
        Self { name, other, ticket, cookie: format!("skep-session={session}") }
    }

    fn request(&self, method: &str, path: &str, body: String) -> Request {
        let request = http::Request::builder().method(method).uri(path).header("host", "localhost");
        let request = request.header("cookie", &self.cookie).header("sec-fetch-site", "same-origin");
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let (parts, ()) = request.body(()).unwrap().into_parts();
        Request::new(parts, Body::from(body))
    }

    /// Reads a page: it names this user, and not the other one.
    async fn read(&self, local: &LocalSite, path: &str) {
        let response = local.answer(self.request("GET", path, String::new())).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        let body = response.into_body().collect(u64::MAX).await.unwrap();
        let page = std::str::from_utf8(&body).unwrap();
        assert!(page.contains(self.name) && !page.contains(self.other), "{path} of {}: {page}", self.name);
    }

    async fn write(&self, local: &LocalSite, round: usize) {
        let path = format!("/tickets/{}/comments", self.ticket);
        let response = local.answer(self.request("POST", &path, format!("text={}+{round}", self.name))).await;
        assert_eq!(response.status(), StatusCode::SEE_OTHER);
    }

    async fn round(&self, local: &LocalSite, round: usize) {
        self.read(local, "/profile").await;
        self.write(local, round).await;
        self.read(local, "/tickets").await;
        self.read(local, &format!("/tickets/{}", self.ticket)).await;
    }
}

fn users(desk: &Desk) -> [User; 2] {
    let (carla, karl) = ("Carla Customer", "Karl Kunde");
    [User::new(desk, CARLA, carla, karl, 1), User::new(desk, KARL, karl, carla, 2)]
}

/// Runs these on this thread, in turn.
fn run(work: impl Future) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(work);
}

#[test]
fn interleaved_requests_of_two_users_are_never_mixed_up() {
    let desk = Desk::with(|setup| setup.offload = Arc::new(Threads));
    let users = users(&desk);
    let local = desk.site.local();
    run(join_all((0..100).map(|round| users[round % 2].round(&local, round))));
    expect_own_comments(&desk, 50);
}

#[test]
fn requests_at_once_on_several_threads_are_never_mixed_up() {
    let desk = Desk::with(|setup| setup.offload = Arc::new(Threads));
    let users = users(&desk);
    thread::scope(|scope| {
        for at in 0..4 {
            let (site, users) = (Arc::clone(&desk.site), users.clone());
            scope.spawn(move || {
                let local = site.local();
                run(join_all((0..20).map(|round| users[(at + round) % 2].round(&local, round))));
            });
        }
    });
    expect_own_comments(&desk, 40);
}

/// Each ticket has the comments of its customer, all of them.
fn expect_own_comments(desk: &Desk, count: usize) {
    let alice = desk.signed_in(common::ALICE);
    let seen = |client: &Client, path: &str, text: &str| client.get(path).text().matches(text).count();
    assert_eq!(seen(&alice, "/tickets/1", "<p class=\"text\">Carla Customer"), count);
    assert_eq!(seen(&alice, "/tickets/2", "<p class=\"text\">Karl Kunde"), count);
    assert_eq!(seen(&alice, "/tickets/1", "Karl") + seen(&alice, "/tickets/2", "Carla"), 0);
}
