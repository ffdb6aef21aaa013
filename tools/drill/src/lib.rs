//! Disasters under load: what a server loses when it crashes, hangs, leaks, is killed, or is swapped.
//!
//! The command is `skep drill`; `docs/guides/run/drill.md` says what each drill does and promises. It starts
//! executables and asks them over a socket, and shares nothing with them, so that it is on nobody's side.
//!
//! | to | see |
//! |---|---|
//! | run the command | [`run`] |
//! | run one drill, in a test say | [`DRILLS`], [`Stage`], [`Report`] |
//! | start a server and look at its processes | [`Subject`], [`Server`] |
//! | load it, and know what was lost | [`Load`], [`Tally`] |
//! | be the application that fails when it is asked to | [`application`](application()), [`APPLICATION`] |

mod application;
mod cli;
mod client;
mod components;
mod drills;
mod error;
mod http2;
mod load;
mod process;
mod report;
mod server;
mod subject;

pub use application::{APPLICATION, MARK, NOTES, application, version};
pub use cli::run;
pub use components::COMPONENT_DRILLS;
pub use drills::{DRILLS, Drill, Stage};
pub use error::{Error, Result};
pub use load::{Answer, Guilty, Load, Running, Tally, ask};
pub use process::{cpu_time, descendants, is_there, kill, memory, title};
pub use report::{Finding, Report};
pub use server::{Server, folder};
pub use subject::{Subject, deploy_bytes, mark};
