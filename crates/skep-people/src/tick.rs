//! Hides how long work took whose time would tell who has an account: a row that is found costs more than one that is
//! not.

use std::thread;
use std::time::{Duration, Instant};

use skep::Cx;

const TICK: Duration = Duration::from_millis(10);

/// Waits until a multiple of [`TICK`] has passed since `begun`.
pub(crate) async fn wait_for_tick(cx: &Cx<'_>, begun: Instant) {
    let wait = cx.offload(move || {
        let past = begun.elapsed().as_nanos() % TICK.as_nanos();
        thread::sleep(TICK.saturating_sub(Duration::from_nanos(u64::try_from(past).unwrap_or(0))));
    });
    // Where the queue is full, how long a request took tells nothing of the work.
    _ = wait.await;
}
