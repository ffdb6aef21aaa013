//! The smallest application: a text, a page, and two counters.

use std::sync::atomic::{AtomicU64, Ordering};

use skep::prelude::*;

/// 13 bytes.
#[derive(Service)]
#[service(GET "/")]
struct Hello;

impl Handle for Hello {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("Hello, world!"))
    }
}

/// A page, with links that the compiler has checked.
#[derive(Service)]
#[service(GET "/page")]
struct Page;

impl Handle for Page {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! {
            (DOCTYPE)
            html lang="en" {
                head { meta charset="utf-8"; title { "Hello" } }
                body {
                    h1 { "Hello, world!" }
                    p { a href=(Hello) { "The same in 13 bytes" } ", and " a href=(Count) { "two counters" } "." }
                }
            }
        }))
    }
}

/// What a process keeps between requests, and what it does not: the static counter counts up with every request that
/// reaches this process, the local one is always 1.
#[derive(Service)]
#[service(GET "/count")]
struct Count;

impl Handle for Count {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let mut local = 0;
        local += 1;
        let shared = COUNTER.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(Response::text(format!("static {shared}, local {local}\n")))
    }
}

/// The application.
#[must_use]
pub fn app() -> App {
    App::new().serve(services![Hello, Page, Count])
}

skep::component!(app(), plain);
