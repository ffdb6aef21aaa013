//! A runtime beside the workers: on it, start-up work and jobs wait for caches that are asked over a connection.
//!
//! A cache in this process or machine needs none; then there is no such thread.

use std::io;
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A runtime on a thread of its own. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Background {
    handle: Handle,
    _stop: oneshot::Sender<()>,
}

impl Background {
    /// Starts the thread.
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        // An error says that the other end is gone, which is what it waits for.
        let run = move || drop(runtime.block_on(stopped));
        thread::Builder::new().name("background".into()).spawn(run)?;
        Ok(Self { handle, _stop: stop })
    }

    /// Where a thread without a runtime enters this one.
    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }
}
