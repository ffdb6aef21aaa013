//! Runs what blocks.

use skep::offload::Offload;
use tokio::runtime::Handle;

/// On the blocking threads of the current runtime, or at once without one.
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
