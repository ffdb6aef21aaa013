//! The server of Skep: configuration, supervision, listeners, HTTP connections.
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     skep_server::run(skep::App::new)
//! }
//! ```
//!
//! A worker process has a thread for each processor core, and each thread its own runtime and its own listening socket.
//! A request is handled on the thread that accepted its connection; threads share nothing that is written for each
//! request.
//!
//! | cargo feature | what it adds |
//! |---|---|
//! | `compression`, `local-tiers`, `tls`: on by default | compressed responses and assets; caches in shared memory and files, which `mpm = prefork` needs, and sessions that outlive a process; the settings `tls.*`. Without the three, `examples/hello` takes a sixth less time to compile |
//! | `fetch`, `memcached`, `otlp`, `postgres`, `redis`, `smtp`, `zstd` | what the setting of that name does; `zstd` as a coding of `compression` |
//!
//! | module | what it does |
//! |---|---|
//! | `server` | from an application to a running server, and its shutdown |
//! | `config` | settings: one table, five sources |
//! | `supervisor` | keeps workers alive, replaces versions, executes control commands |
//! | `prefork` | the parent that initialises, and the processes forked from it |
//! | `handoff`, `channel` | what a worker inherits; its messages to and from the supervisor |
//! | `listener` | listening sockets |
//! | `worker` | a thread that accepts and serves connections |
//! | `connection` | HTTP over one connection |
//! | `authority`, `proxies` | the host that a request is for; what a trusted proxy reports of its client |
//! | `tls` | certificates and keys; what stands for them without the feature |
//! | `control` | a running server, from outside: for `skep top` |
//! | `status_server` | the process of the status page; `skep-observe` makes the page, metrics and logs |
//! | `jobs`, `offload`, `background` | work beside requests |
//! | `fetch` | requests of handlers to other servers |
//! | `outgoing` | where requests to other servers may go |
//! | `fuzz` | what fuzz targets call |
//! | `signals` | the main thread's wait |
//! | `sys` | the few places that need `unsafe` |

mod assembly;
mod authority;
mod background;
mod backoff;
mod channel;
mod config;
mod connection;
#[doc(hidden)]
pub mod control;
mod deployment;
mod error;
mod executable;
#[cfg(feature = "fetch")]
mod fetch;
// With the tests that call it, here and as fuzz targets: they cannot name what is private.
#[doc(hidden)]
#[path = "../tests/fuzzed/interface.rs"]
pub mod fuzz;
mod handoff;
mod http1;
mod jobs;
mod listener;
mod offload;
#[doc(hidden)]
pub mod outgoing;
mod prefork;
mod procfs;
mod proxies;
mod recycling;
mod resources;
mod routes;
mod server;
mod signals;
mod smtp;
mod status_server;
mod supervisor;
mod sys;
mod tls;
mod worker;
mod worker_state;

use std::process::ExitCode;

pub use config::reference;
pub use error::StartError;
pub use server::{AppFactory, Running, Server};

/// Serves the application that `app` creates until a signal stops the server. For `main`. Settings come from the
/// command line, the environment and `skep.toml`.
///
/// Pass a function (`run(blog::app)`), not an application: each worker calls it, and before the first worker starts, a
/// child process that looks for unmounted services. The supervisor never does. See [`Server::new`].
///
/// TERM and INT stop the server after requests in progress, within the setting `grace` (10 s), with exit code 0; a
/// second signal or QUIT stops it at once. An error at start is printed to standard error, with exit code 1, or 2 if
/// the command line is wrong.
#[must_use]
pub fn run(app: impl Into<AppFactory>) -> ExitCode {
    Server::new(app).run()
}
