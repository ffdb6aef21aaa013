//! The HTTP/1.1 client of the tools: of the load generator, of drills, and of the runner.
//!
//! It shares no code with the server, so that what one side gets wrong the other does not get wrong in the same way.
//!
//! | to | see |
//! |---|---|
//! | make one request over a connection, and wait | [`exchange`], [`get`] |
//! | find where responses end in a stream of bytes | [`Parser`](parser::Parser) |

mod exchange;
pub mod parser;

pub use exchange::{Response, exchange, get};
