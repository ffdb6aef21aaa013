//! How a guest ended that did not return.

use std::fmt::{self, Write};

use wasmtime::WasmBacktrace;
use wasmtime_wasi::I32Exit;

/// The time of a request ended while its guest computed.
#[derive(Debug)]
pub(crate) struct Late;

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("its time is up")
    }
}

impl std::error::Error for Late {}

/// The innermost functions of a backtrace that are shown.
const FRAMES: usize = 12;

/// What went wrong and where in the guest, in one line that begins with the cause.
pub(crate) fn describe(error: &wasmtime::Error) -> String {
    let backtrace = error.downcast_ref::<WasmBacktrace>();
    let mut text = match error.downcast_ref::<I32Exit>() {
        Some(exit) => format!("it called exit({})", exit.0),
        // Above the root is where it was, and nothing else.
        None if backtrace.is_some() => error.root_cause().to_string(),
        None => format!("{error:#}"),
    };
    let Some(backtrace) = backtrace else { return text };
    for (number, frame) in backtrace.frames().iter().take(FRAMES).enumerate() {
        text.push_str(if number == 0 { ", in " } else { " < " });
        let _ = match frame.func_name() {
            Some(name) => write!(text, "{name}"),
            None => write!(text, "function {}", frame.func_index()),
        };
        if let Some(offset) = frame.module_offset() {
            let _ = write!(text, " (0x{offset:x})");
        }
    }
    if backtrace.frames().len() > FRAMES {
        text.push_str(" < ...");
    }
    text
}
