//! A few connections, and an orderly queue for them.
//!
//! Who waits costs nothing but memory: no thread is blocked, and a connection that comes back is handed to the one
//! who waited longest. [`Lease`] gives it back however its holder ends, with an open transaction rolled back.
//!
//! Start reading at [`Pool::lease`].

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures_channel::oneshot;
use skep_units::lock;

use super::connection::Connection;
use crate::error::{Error, Kind, Result};
use crate::status::Part;

type Opener = Box<dyn Fn() -> Result<Connection> + Send + Sync>;

/// A place for a connection, which is opened when first needed, and again if it was lost.
type Slot = Option<Connection>;

pub(crate) struct Pool {
    queue: Mutex<Queue>,
    /// How many connections there may be.
    places: usize,
    /// How many may wait.
    limit: usize,
    open: Opener,
}

struct Queue {
    idle: Vec<Slot>,
    waiting: VecDeque<oneshot::Sender<Lease>>,
}

enum Turn {
    Now(Lease),
    Later(oneshot::Receiver<Lease>),
}

impl Pool {
    /// A pool with these places, in which at most `limit` wait for one.
    pub(crate) fn new(idle: Vec<Slot>, limit: usize, open: Opener) -> Arc<Self> {
        let places = idle.len();
        Arc::new(Self { queue: Mutex::new(Queue { idle, waiting: VecDeque::new() }), places, limit, open })
    }

    /// Waits for a connection, without blocking.
    pub(crate) async fn lease(self: &Arc<Self>) -> Result<Lease> {
        match self.turn()? {
            Turn::Now(lease) => Ok(lease),
            Turn::Later(lease) => lease.await.map_err(|oneshot::Canceled| Kind::Abandoned.into()),
        }
    }

    /// Closes connections that nobody uses. Their places stay.
    pub(crate) fn close_idle(&self) {
        lock(&self.queue).idle.fill_with(|| None);
    }

    /// For the status: how many connections are open, how many of them are lent, and how many wait for one.
    pub(crate) fn status(&self, name: &str) -> Part {
        let queue = lock(&self.queue);
        let busy = self.places - queue.idle.len();
        let connections = busy + queue.idle.iter().flatten().count();
        let waiting = queue.waiting.iter().filter(|waiting| !waiting.is_canceled()).count();
        drop(queue);
        Part::new(name)
            .line(format!("{connections} connections of {}, {busy} busy, {waiting} wait for one", self.places))
            .value("connections", connections)
            .value("busy", busy)
            .value("waiting", waiting)
    }

    fn turn(self: &Arc<Self>) -> Result<Turn> {
        let mut queue = lock(&self.queue);
        if let Some(connection) = queue.idle.pop() {
            return Ok(Turn::Now(Lease { connection, pool: Some(Arc::clone(self)) }));
        }
        if queue.waiting.len() >= self.limit {
            queue.waiting.retain(|waiting| !waiting.is_canceled());
        }
        if queue.waiting.len() >= self.limit {
            return Err(Kind::QueueFull { limit: self.limit }.into());
        }
        let (sender, receiver) = oneshot::channel();
        queue.waiting.push_back(sender);
        Ok(Turn::Later(receiver))
    }

    fn give_back(self: Arc<Self>, mut connection: Slot) {
        loop {
            let mut queue = lock(&self.queue);
            let Some(next) = queue.waiting.pop_front() else {
                queue.idle.push(connection);
                return;
            };
            drop(queue);
            // A lease that is sent and never taken gives its connection back when the channel is dropped.
            match next.send(Lease { connection, pool: Some(Arc::clone(&self)) }) {
                Ok(()) => return,
                Err(mut lease) => {
                    lease.pool = None;
                    connection = lease.connection.take();
                }
            }
        }
    }
}

/// The right to use one connection of a pool.
pub(crate) struct Lease {
    connection: Slot,
    /// Nobody, if the connection went elsewhere.
    pool: Option<Arc<Pool>>,
}

impl Lease {
    /// The connection, opened now if it was not yet.
    pub(crate) fn connection(&mut self) -> Result<&mut Connection> {
        if self.connection.is_none() {
            let pool = self.pool.as_ref().ok_or_else(|| Error::from(Kind::Abandoned))?;
            self.connection = Some((pool.open)()?);
        }
        self.connection.as_mut().ok_or_else(|| Kind::Abandoned.into())
    }

    /// True if dropping it has work to do.
    pub(crate) fn in_transaction(&self) -> bool {
        self.connection.as_ref().is_some_and(Connection::in_transaction)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(pool) = self.pool.take() else { return };
        if self.in_transaction() && self.connection.as_ref().is_some_and(|open| open.control("rollback").is_err()) {
            // Closing undoes it too; the next holder opens a new one.
            self.connection = None;
        }
        pool.give_back(self.connection.take());
    }
}
