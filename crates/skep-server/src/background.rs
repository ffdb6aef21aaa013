//! A runtime for start-up work and jobs that use caches over a connection.
//!
//! It is only started if there is such a cache.

use std::io;
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A runtime on a thread of its own, until it is dropped.
#[derive(Debug)]
pub(crate) struct Background {
    handle: Handle,
    _stop: oneshot::Sender<()>,
}

impl Background {
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        // An error means that the sender was dropped, which is what it waits for.
        let run = move || drop(runtime.block_on(stopped));
        thread::Builder::new().name("background".into()).spawn(run)?;
        Ok(Self { handle, _stop: stop })
    }

    /// Where a thread without a runtime enters this one.
    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }
}
