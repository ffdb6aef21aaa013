//! What Skep's own log costs, for `skep bench log`: the bench itself knows no other crate.

use skep_bench::LogSink;
use skep_server::MeasuredLog;
use tracing::dispatcher;

/// So many lines are said before they are written: some tens of kilobytes, as in a busy server.
const LINES: u64 = 500;

/// An event as Skep's server writes it, and a line of its access log.
pub(crate) fn sinks() -> Result<Vec<LogSink>, String> {
    let start = || MeasuredLog::start().map_err(|error| format!("the thread of the log does not start: {error}"));
    let (mut events, mut access) = (start()?, start()?);
    let dispatch = events.events();
    let event = LogSink::new("skep's log", move |count, say| {
        pieces(count, |lines| {
            dispatcher::with_default(&dispatch, || say(lines));
            events.write();
        });
    });
    let line = LogSink::new("skep's access log", move |count, _| {
        pieces(count, |lines| {
            (0..lines).for_each(|_| access.access("/writings/bees"));
            access.write();
        });
    });
    Ok(vec![event, line])
}

fn pieces(count: u64, mut work: impl FnMut(u64)) {
    let mut left = count;
    while left > 0 {
        let lines = LINES.min(left);
        work(lines);
        left -= lines;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lines_are_said_in_pieces() {
        let mut said = Vec::new();
        pieces(1200, |lines| said.push(lines));
        assert_eq!(said, [500, 500, 200]);
    }

    #[test]
    fn both_kinds_of_lines_are_there() {
        let names: Vec<String> = sinks().unwrap().iter().map(|sink| sink.name().to_owned()).collect();
        assert_eq!(names, ["skep's log", "skep's access log"]);
    }
}
