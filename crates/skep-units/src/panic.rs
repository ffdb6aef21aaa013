//! Catches panics, with message and location.

use std::any::Any;
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

thread_local! {
    /// Somebody catches panics on this thread.
    static CATCHES: Cell<bool> = const { Cell::new(false) };
    /// Text and place of the one that is being caught.
    static CAUGHT: Cell<Option<Box<Panicked>>> = const { Cell::new(None) };
}

/// Backtraces are taken: an application is in development.
static IN_DEVELOPMENT: AtomicBool = AtomicBool::new(false);

/// A future panicked: what it said, and where; in development, with a backtrace.
#[derive(Debug, Default)]
pub struct Panicked {
    text: String,
    pub backtrace: Option<Box<str>>,
}

crate::error_text!(Panicked, |panicked| format_args!("panicked {}", panicked.text));

/// Has panics and errors know their backtraces from now on, which costs milliseconds each.
pub fn take_backtraces() {
    IN_DEVELOPMENT.store(true, Ordering::Relaxed);
}

/// Where this is called from, in development.
#[must_use]
pub fn backtrace() -> Option<Box<str>> {
    IN_DEVELOPMENT.load(Ordering::Relaxed).then(|| Backtrace::force_capture().to_string().into())
}

/// Makes [`catch`] and [`CatchPanic`] know text and place of what they catch, and has `told` hear of it. Other panics
/// are reported as before.
pub fn install_hook(told: fn(&str)) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !CATCHES.get() {
                return previous(info);
            }
            let place = info.location().map_or_else(String::new, |place| format!("at {place}: "));
            let text = place + info.payload_as_str().unwrap_or("with a value that is no text");
            told(&text);
            CAUGHT.set(Some(Box::new(Panicked { text, backtrace: backtrace() })));
        }));
    });
}

/// Runs `work`; a panic inside becomes an error.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    // One may be within another: a function of SQL in a handler.
    let outer = (CATCHES.replace(true), CAUGHT.take());
    // What panicked is not used again, and what it borrowed belongs to its request alone.
    let result = catch_unwind(AssertUnwindSafe(work));
    CATCHES.set(outer.0);
    let caught = CAUGHT.replace(outer.1);
    result.map_err(|payload| {
        caught.map_or_else(|| Panicked { text: text_of(&*payload), backtrace: None }, |caught| *caught)
    })
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

#[cfg(test)]
mod tests {
    use std::panic::{panic_any, resume_unwind};

    use super::*;

    fn text<T>(caught: Result<T, Panicked>) -> String {
        caught.map(drop).expect_err("it panicked").to_string()
    }

    #[test]
    fn who_catches_gets_the_panic_of_its_own_work() {
        install_hook(|_| {});
        let inner = catch(|| text(catch(|| panic!("inner"))));
        let inner = inner.unwrap();
        assert!(inner.contains("panic.rs:") && inner.ends_with(": inner"), "{inner}");
        let outer = catch(|| {
            assert!(text(catch(|| panic!("inner"))).ends_with("inner"));
            panic!("outer")
        });
        assert!(text::<()>(outer).ends_with("outer"));
        assert!(catch(|| drop(catch_unwind(|| panic!("swallowed")))).is_ok());
        // The hook is not called for it, and its text is not that of the panic before.
        assert_eq!(text(catch(|| resume_unwind(Box::new("resumed")))), "panicked resumed");
        assert!(text(catch(|| panic_any(7))).ends_with("with a value that is no text"));
    }

    /// What it looks like where nobody has installed the hook.
    #[test]
    fn a_payload_without_the_hook_has_its_text() {
        for payload in [Box::new("text") as Box<dyn Any + Send>, Box::new("text".to_owned())] {
            assert_eq!(text(catch(|| resume_unwind(payload))), "panicked text");
        }
        assert_eq!(text(catch(|| resume_unwind(Box::new(7)))), "panicked with a value that is no text");
    }
}
