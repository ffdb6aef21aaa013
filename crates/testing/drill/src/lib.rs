//! Disasters under load: what a server loses when it crashes, hangs, leaks, is killed, or is swapped.
//!
//! Tests use it, and the command `skep drill` (`tools/drill`); `docs/guides/run/drill.md` says what each drill does and
//! promises. It starts executables and sends them requests over a socket. It shares no code with the server's request
//! path, so that it shares no bugs with the server under test.
//!
//! | to | see |
//! |---|---|
//! | run one drill, in a test say | [`DRILLS`], [`Stage`], [`Report`] |
//! | run the hostile clients of several at the same time | [`together`] |
//! | start a server and look at its processes | [`Subject`], [`Server`] |
//! | load it, and know what was lost | [`Load`], [`Tally`] |
//! | be the application that fails when it is asked to | [`application`](application()), [`APPLICATION`] |

mod application;
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
mod time_of_day;

pub use application::{APPLICATION, MARK, NOTES, application, version};
pub use components::COMPONENT_DRILLS;
pub use drills::{DRILLS, Drill, Stage, together};
pub use error::{Error, Result};
pub use load::{Guilty, Load, PlainResponse, Running, Tally, ask};
pub use process::{cpu_time, descendants, is_stopped, is_there, kill, memory, title};
pub use report::{Finding, Report};
pub use server::{Server, folder};
pub use skep_client::{wait_for, wait_until};
pub use subject::{Subject, deploy_bytes, mark};
pub use time_of_day::TimeOfDay;
