//! The server of skep: configuration, listeners, HTTP connections.
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     skep_server::run(skep::App::new)
//! }
//! ```
//!
//! One process, a thread for each processor core, and on each thread a runtime of its own with its own listening
//! socket: a request is answered on the thread that accepted its connection, and threads share nothing that is written
//! for each request.
//!
//! | module | what it does |
//! |---|---|
//! | `server` | from an application to a server that runs, and to its end |
//! | `config` | settings: one table, five layers |
//! | `listener` | sockets that connections come from |
//! | `worker` | a thread that accepts and serves |
//! | `connection` | HTTP over one connection |
//! | `tls` | certificates and keys |
//! | `log` | events and the access log |
//! | `jobs`, `offload` | work that blocks |
//! | `signals` | how the main thread waits |
//! | `sys` | the few places that need `unsafe` |

mod background;
mod config;
mod connection;
mod jobs;
mod listener;
mod log;
mod offload;
mod prefork;
mod seat;
mod server;
mod signals;
mod supervisor;
mod sys;
mod tls;
mod worker;

use std::process::ExitCode;

pub use config::{flags, reference};
pub use log::MeasuredLog;
pub use server::{Recipe, Running, Server, StartError};

/// Serves the application that `app` makes, as the command line, the environment and `skep.toml` say, until a signal ends it. For `main`.
///
/// Give it the function (`run(blog::app)`): it is called in the process that serves, and before that in one that
/// only looks for services that were forgotten; never in the supervisor's. See [`Server::new`].
///
/// TERM and INT let requests finish for `grace` (10 s) and give exit code 0; a second one, or QUIT, ends at once. Why
/// it could not start is said on standard error, with exit code 1.
#[must_use]
pub fn run(app: impl Into<Recipe>) -> ExitCode {
    Server::new(app).run()
}
