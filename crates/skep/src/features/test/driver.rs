//! The thread on which the application of a test runs.
//!
//! It has a tokio runtime, as a thread of the server has, so that handlers may await what they may await there. It ends
//! with the last [`Client`](super::Client).

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use futures_channel::{mpsc, oneshot};
use futures_core::Stream;
use tokio::runtime::{Builder, LocalOptions};

use crate::application::site::{LocalSite, Site};
use crate::base::cancel::unless_canceled;

type Job = Box<dyn FnOnce(&LocalSite) -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// A thread that runs an application.
pub(super) struct Driver {
    site: Arc<Site>,
    /// `None` once it is to end.
    jobs: Option<mpsc::UnboundedSender<Job>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Driver {
    pub(super) fn start(site: &Arc<Site>) -> Arc<Self> {
        let (jobs, queue) = mpsc::unbounded();
        let served = Arc::clone(site);
        // What the test listens to hears the handlers, too.
        let subscriber = tracing::dispatcher::get_default(Clone::clone);
        let work = move || tracing::dispatcher::with_default(&subscriber, || serve(&served, queue));
        let thread = thread::Builder::new().name("skep test client".into()).spawn(work);
        let thread = thread.expect("a test may start a thread");
        Arc::new(Self { site: Arc::clone(site), jobs: Some(jobs), thread: Mutex::new(Some(thread)) })
    }

    pub(super) fn site(&self) -> &Arc<Site> {
        &self.site
    }

    /// Runs `work` on the thread, and waits for its value without blocking.
    pub(super) async fn run<T, F>(&self, work: impl FnOnce(LocalSite) -> F + Send + 'static) -> T
    where
        T: Send + 'static,
        F: Future<Output = T> + 'static,
    {
        let (sender, value) = oneshot::channel();
        let job: Job = Box::new(move |local| Box::pin(unless_canceled(work(local.clone()), sender)));
        let jobs = self.jobs.as_ref().expect("they are taken by drop only");
        jobs.unbounded_send(job).expect("the thread of the application runs until its last client is dropped");
        value.await.expect("what panics in a handler is caught, and the rest does not panic")
    }
}

fn serve(site: &Arc<Site>, queue: mpsc::UnboundedReceiver<Job>) {
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
    let runtime = runtime.expect("a test may have a runtime");
    runtime.block_on(async {
        let (local, mut queue) = (site.local(), pin!(queue));
        while let Some(job) = poll_fn(|cx| queue.as_mut().poll_next(cx)).await {
            tokio::task::spawn_local(job(&local));
        }
    });
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.jobs = None;
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // So that nothing of the application, such as its temporary database, outlives the test.
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != thread::current().id()) {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Driver")
    }
}
