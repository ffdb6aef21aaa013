//! Catches panics, with message and location.

use std::any::Any;
use std::cell::RefCell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Once;
use std::task::{Context, Poll};

thread_local! {
    /// Text and place of the panic that is being caught on this thread; `None` where nobody catches.
    static CAUGHT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A future panicked: what it said, and where.
#[derive(Debug)]
pub struct Panicked(String);

crate::error_text!(Panicked, |panicked| format_args!("panicked {}", panicked.0));

/// Makes [`catch`] and [`CatchPanic`] know text and place of what they catch, and has `told` hear of it. Other panics
/// are reported as before.
pub fn install_hook(told: fn(&str)) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let caught = CAUGHT.with_borrow_mut(|caught| {
                let Some(text) = caught else { return false };
                let place = info.location().map_or_else(String::new, |place| format!("at {place}: "));
                *text = place + info.payload_as_str().unwrap_or("with a value that is no text");
                told(text);
                true
            });
            if !caught {
                previous(info);
            }
        }));
    });
}

/// Runs `work`; a panic inside becomes an error.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    // One may be within another: a function of SQL in a handler.
    let outer = CAUGHT.replace(Some(String::new()));
    // What panicked is not used again, and what it borrowed belongs to its request alone.
    let result = catch_unwind(AssertUnwindSafe(work));
    let text = CAUGHT.replace(outer).unwrap_or_default();
    result.map_err(|payload| Panicked(if text.is_empty() { text_of(&*payload) } else { text }))
}

/// What is known where nobody has installed the hook.
fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
    text.unwrap_or("with a value that is no text").to_owned()
}

/// Polls a future; a panic inside becomes an error.
#[derive(Debug)]
pub struct CatchPanic<'f, F>(pub Pin<&'f mut F>);

impl<F: Future> Future for CatchPanic<'_, F> {
    type Output = Result<F::Output, Panicked>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match catch(|| self.0.as_mut().poll(cx)) {
            Ok(polled) => polled.map(Ok),
            Err(panicked) => Poll::Ready(Err(panicked)),
        }
    }
}
