//! Two programs without a database.

use std::sync::atomic::{AtomicU64, Ordering};

use skep::prelude::*;

/// 13 bytes.
#[derive(Service)]
#[service(GET "/hello")]
pub(crate) struct Hello;

impl Handle for Hello {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("Hello, world!"))
    }
}

/// A counter that is the process's and one that is the request's.
#[derive(Service)]
#[service(GET "/count")]
pub(crate) struct Count;

impl Handle for Count {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        static SHARED: AtomicU64 = AtomicU64::new(0);
        let mut local = 0;
        local += 1;
        let shared = SHARED.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(Response::text(format!("static {shared}, local {local}\n")))
    }
}
