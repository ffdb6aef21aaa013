//! Work that may block, done where blocking harms no one.

/// Runs work that may block somewhere where blocking harms no one.
///
/// The server brings one. Without a server, in tests and tools, [`Inline`] does the work at once.
pub trait Offload: Send + Sync {
    /// Takes the work and returns without waiting for it.
    fn run(&self, job: Box<dyn FnOnce() + Send>);
}

/// Does the work at once, on the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inline;

impl Offload for Inline {
    fn run(&self, job: Box<dyn FnOnce() + Send>) {
        job();
    }
}
