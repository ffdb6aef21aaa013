//! Nonces: by them a Content-Security-Policy knows the scripts and styles that [`html!`](crate::html!) wrote.
//!
//! A [`Scope`] spans the making of one response. Its nonce is drawn when the first script asks for it, so that a page
//! without scripts costs nothing. HTML made outside a scope (in a test, a mail) has none.
//!
//! ```
//! use skep_html::html;
//! use skep_html::nonce::Scope;
//!
//! let mut scope = Scope::default();
//! let page = scope.enter(|| html! { script { "start()" } });
//!
//! let nonce = scope.nonce().expect("there is a script");
//! assert_eq!(page.as_str(), format!("<script nonce=\"{nonce}\">start()</script>"));
//! let header = format!("default-src 'self'; script-src 'self' 'nonce-{nonce}'"); // Content-Security-Policy
//! # let _ = header;
//! ```

use std::cell::Cell;
use std::sync::{Arc, OnceLock};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

thread_local! {
    static CURRENT: Cell<Option<Scope>> = const { Cell::new(None) };
}

/// The nonce of one response, drawn or not yet. Clones share it once it [is shared](Scope::share). An example
/// is at [the module](self).
#[derive(Clone, Debug, Default)]
pub struct Scope(Option<Arc<OnceLock<String>>>);

impl Scope {
    /// A part of the response that is being made on this thread: work on another thread, or a body that is made later.
    #[must_use]
    pub fn share() -> Option<Self> {
        with_current(|scope| {
            scope.0.get_or_insert_default();
            scope.clone()
        })
    }

    /// Draws the nonce of a scope that is shared, so that it is known before something asks for it.
    pub fn draw(&self) {
        if let Some(nonce) = &self.0 {
            nonce.get_or_init(draw);
        }
    }

    /// Runs a step of making the response: what `html!` writes meanwhile on this thread has the nonce. A future is
    /// polled in it.
    ///
    /// An example is at [the module](self).
    pub fn enter<T>(&mut self, step: impl FnOnce() -> T) -> T {
        /// Leaves the scope, also by way of a panic.
        struct Leave<'s>(&'s mut Scope, Option<Scope>);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                *self.0 = CURRENT.replace(self.1.take()).unwrap_or_default();
            }
        }
        let outer = CURRENT.replace(Some(std::mem::take(self)));
        let _leave = Leave(self, outer);
        step()
    }

    /// The nonce, if something asked for it.
    #[must_use]
    pub fn nonce(&self) -> Option<&str> {
        self.0.as_ref()?.get().map(String::as_str)
    }
}

/// Hands over the nonce of the response that is being made on this thread, for markup that `html!` does not write.
/// `None` outside a [`Scope`], of which an example is at [the module](self).
pub fn with<T>(take: impl FnOnce(&str) -> T) -> Option<T> {
    with_current(|scope| {
        let nonce = scope.0.get_or_insert_default();
        take(nonce.get_or_init(draw))
    })
}

fn with_current<T>(work: impl FnOnce(&mut Scope) -> T) -> Option<T> {
    // What is dropped with its thread finds no scope any more.
    let mut scope = CURRENT.try_with(Cell::take).ok()??;
    let result = work(&mut scope);
    CURRENT.set(Some(scope));
    Some(result)
}

/// 128 random bits, as the standard asks for (CSP 3, 2.3).
fn draw() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system has random bytes");
    URL_SAFE_NO_PAD.encode(bytes)
}

#[cfg(test)]
#[path = "../tests/unit/nonce.rs"]
mod tests;
