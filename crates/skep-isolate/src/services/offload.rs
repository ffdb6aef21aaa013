//! Where what blocks is done.

use skep::offload::Offload;
use tokio::runtime::Handle;

/// On threads of the runtime that asks; at once where there is none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnPool;

impl Offload for OnPool {
    fn run(&self, job: Box<dyn FnOnce() + Send>) {
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(job)),
            Err(_) => job(),
        }
    }
}
