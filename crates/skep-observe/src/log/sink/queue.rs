//! Records in a queue to the process that exports. What the queue is, the process decides that has one.

use std::io;
use std::sync::OnceLock;

use super::{Progress, Stopped};

/// Takes a record. False if there is no room.
type Push = Box<dyn Fn(&[u8]) -> bool + Send + Sync>;

static QUEUE: OnceLock<Push> = OnceLock::new();

/// Records go there from now on. The first one stays.
pub(in crate::log) fn install(push: Push) {
    let _ = QUEUE.set(push);
}

/// Hands lines over, without their ends. They wait while there is no room, or no queue yet.
pub(super) fn push(lines: &[u8], end: u8, progress: Progress<'_>) -> Result<(), Stopped> {
    let mut written = 0;
    for line in lines.split_inclusive(|byte| *byte == end) {
        let text = line.strip_suffix(&[end]).unwrap_or(line);
        if !QUEUE.get().is_some_and(|push| push(text)) {
            return Err(Stopped { written, error: io::ErrorKind::WouldBlock.into() });
        }
        written += line.len();
        progress.wrote(written);
    }
    Ok(())
}
