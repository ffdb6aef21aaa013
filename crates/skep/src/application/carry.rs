//! What work on another thread carries of the request that gave it: lines of the log name the request, and pages made
//! there have its nonce.

use std::sync::Arc;

use skep_units::panic;

use crate::context::setup::Setup;
#[cfg(target_family = "wasm")]
use crate::host::component::panicked;
use crate::offload::Offload;
use skep_html::nonce::Scope;
use skep_http::account;
use skep_http::log;

/// Has panics, statements and jobs of an application known for those of the request that they belong to.
pub(crate) fn install(setup: &mut Setup) {
    panic::install_hook(panicked);
    skep_sql::observe_statements(&account::Statements);
    // A host of components opens a setup a second time.
    if !setup.offload.carries() {
        setup.offload = Arc::new(Carrying(Arc::clone(&setup.offload)));
    }
}

/// Outside of a component, the log has what panicked.
#[cfg(not(target_family = "wasm"))]
const fn panicked(_text: &str) {}

/// The pool of a server, whose jobs carry what belongs to their request.
struct Carrying(Arc<dyn Offload>);

impl Offload for Carrying {
    fn carries(&self) -> bool {
        true
    }

    fn run(&self, job: Box<dyn FnOnce() + Send>) {
        let (mut nonce, mut log) = (Scope::share(), log::share());
        if nonce.is_none() && log.is_none() {
            return self.0.run(job);
        }
        self.0.run(Box::new(move || {
            let job = || match &mut nonce {
                Some(nonce) => nonce.enter(job),
                None => job(),
            };
            match &mut log {
                Some(log) => log.enter(job),
                None => job(),
            }
        }));
    }
}
