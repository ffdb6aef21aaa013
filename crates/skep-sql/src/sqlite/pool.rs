//! The connections of a file that are lent: [`pool`](crate::pool).

use super::connection::Connection;
use crate::error::Result;
use crate::pool::{self, Pooled, Usage};
use crate::status::Part;

/// A connection is opened when it is first needed, and again if it was lost.
pub(super) type Opener = Box<dyn Fn() -> Result<Connection> + Send + Sync>;
pub(super) type Pool = pool::Pool<Connection>;
pub(super) type Lease = pool::Lease<Connection>;

impl Pooled for Connection {
    type Opener = Opener;

    /// Closing undoes a transaction, too, if it cannot be rolled back.
    fn reset(self, then: impl FnOnce(Option<Self>) + Send + 'static) {
        let is_clean = !self.in_transaction() || self.control("rollback").is_ok();
        then(is_clean.then_some(self));
    }
}

/// For the status: how many connections are open, how many of them are lent, and how many wait for one.
pub(super) fn status(pool: &Pool, name: &str) -> Part {
    let Usage { connections, busy, waiting } = pool.usage();
    Part::new(name)
        .line(format!("{connections} connections of {}, {busy} busy, {waiting} wait for one", pool.max()))
        .value("connections", connections)
        .value("busy", busy)
        .value("waiting", waiting)
}
