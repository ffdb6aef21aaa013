//! Bounds what clients can make the log say.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use skep_units::lock;

const PERIOD: Duration = Duration::from_mins(1);
/// Maximum number of lines of one kind in each [`PERIOD`], in one process.
const LINES: u32 = 60;

/// One kind of line that a client can cause as often as it likes.
pub struct LogLimit {
    /// Completes "N more lines: ".
    kind: &'static str,
    state: Mutex<State>,
}

struct State {
    begun: Option<Instant>,
    lines: u32,
    left_out: u64,
}

impl LogLimit {
    /// `kind` completes "N more lines: ".
    pub const fn new(kind: &'static str) -> Self {
        Self { kind, state: Mutex::new(State { begun: None, lines: 0, left_out: 0 }) }
    }

    /// Logs a line, or counts it: the next period begins with the number of those that were left out.
    pub fn log(&self, line: impl FnOnce()) {
        if self.admit(Instant::now()) {
            line();
        }
    }

    fn admit(&self, now: Instant) -> bool {
        let mut state = lock(&self.state);
        if state.begun.is_none_or(|begun| now.saturating_duration_since(begun) >= PERIOD) {
            if state.left_out > 0 {
                tracing::warn!(target: "skep::log", "{} more lines: {}", state.left_out, self.kind);
            }
            *state = State { begun: Some(now), lines: 0, left_out: 0 };
        }
        let is_admitted = state.lines < LINES;
        state.lines += u32::from(is_admitted);
        state.left_out += u64::from(!is_admitted);
        is_admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_has_sixty_lines() {
        let (limit, start) = (LogLimit::new("a test"), Instant::now());
        let admitted = |now| (0..100).filter(|_| limit.admit(now)).count();
        assert_eq!((admitted(start), admitted(start + PERIOD / 2), admitted(start + PERIOD)), (60, 0, 60));
    }
}
