//! The HTTP/1.1 client of the tools: of the load generator, of drills, and of the runner.
//!
//! It shares no code with the server, so that what one side gets wrong the other does not get wrong in the same way.
//!
//! | to | see |
//! |---|---|
//! | make one request over a connection, and wait | [`exchange`], [`get`] |
//! | find where responses end in a stream of bytes | [`Parser`](parser::Parser) |
//! | wait until a server has done something | [`wait_until`] |

mod exchange;
pub mod parser;
mod wait;

pub use exchange::{Response, exchange, get};
pub use wait::{wait_for, wait_until};
