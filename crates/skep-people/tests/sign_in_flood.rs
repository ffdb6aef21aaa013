//! A flood of sign-ins is bounded. A program of its own: the bound is that of a process, and would refuse other tests.

#![allow(dead_code, reason = "the pages that it does not ask for")]

#[path = "people/accounts/app.rs"]
mod app;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use skep::offload::Offload;
use skep::{Method, Request, Setup};

/// Work that waits until it is let go.
#[derive(Default)]
struct Held(Mutex<Vec<Box<dyn FnOnce() + Send>>>);

impl Offload for Held {
    fn run(&self, job: Box<dyn FnOnce() + Send>) {
        self.0.lock().unwrap().push(job);
    }
}

#[test]
fn of_two_thousand_sign_ins_at_once_most_get_a_retry_after() {
    let held = Arc::new(Held::default());
    let mut setup = Setup::default();
    setup.temporary_database = true;
    setup.offload = Arc::clone(&held) as Arc<dyn Offload>;
    let local = Arc::new(app::app().open(setup).unwrap()).local();
    let ask = |number: u32| -> Pin<Box<dyn Future<Output = (u16, bool)>>> {
        let local = local.clone();
        Box::pin(async move {
            let body = format!("email=user{number}%40example.org&password=wrong");
            let answer = local.answer(http_request(Method::POST, "/sign-in", body)).await;
            (answer.status().as_u16(), answer.headers().get("retry-after").is_some_and(|after| after == "5"))
        })
    };
    let (mut waiting, mut answers): (Vec<_>, Vec<_>) = ((0..2000).map(ask).collect(), Vec::new());
    let mut context = Context::from_waker(Waker::noop());
    let mut ran = 0;
    while !waiting.is_empty() {
        waiting.retain_mut(|answer| match answer.as_mut().poll(&mut context) {
            Poll::Ready(answer) => {
                answers.push(answer);
                false
            }
            Poll::Pending => true,
        });
        let jobs = std::mem::take(&mut *held.0.lock().unwrap());
        assert!(waiting.is_empty() || !jobs.is_empty(), "requests wait, and no job is queued");
        ran += jobs.len();
        for job in jobs {
            job();
        }
    }
    let refused: Vec<_> = answers.iter().filter(|(status, _)| *status == 503).collect();
    assert!(refused.iter().all(|(_, comes_back)| *comes_back));
    // Each password that is hashed is three jobs, with what is written of the failure. The others are statements for
    // which this thread was too slow: a request that waits for one comes late, and may find room again.
    let hashed = answers.iter().filter(|(status, _)| *status == 422).count();
    let late = ran.saturating_sub(3 * hashed);
    // All that do not fit beside those that are hashed and the 64 that wait.
    assert!(refused.len() + late > 1800, "{} were refused, {late} came late", refused.len());
    assert!(answers.iter().all(|(status, _)| [422, 503].contains(status)));
}

fn http_request(method: Method, path: &str, body: String) -> Request {
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost")
        .header("sec-fetch-site", "same-origin")
        .header("content-type", "application/x-www-form-urlencoded");
    let (parts, ()) = request.body(()).unwrap().into_parts();
    Request::new(parts, body.into())
}
