//! Unit tests of `log::buffer`.

use super::*;

fn buffer(writer: &Arc<Writer>, fails: bool, limit: usize) -> Arc<LogBuffer> {
    let sink = Arc::new(Sink::Test(Mutex::new((fails, Vec::new()))));
    writer.buffer(Destination { name: "test".into(), description: String::new(), sink, end: b'\n' }, limit)
}

fn set_failing(buffer: &LogBuffer, fails: bool) {
    let Sink::Test(state) = &*buffer.to.sink else { unreachable!() };
    lock(state).0 = fails;
}

fn written(buffer: &LogBuffer) -> String {
    let Sink::Test(state) = &*buffer.to.sink else { unreachable!() };
    String::from_utf8(lock(state).1.clone()).unwrap()
}

#[test]
fn a_full_buffer_drops_what_is_not_severe_and_counts_it() {
    let writer = Arc::new(Writer::default());
    let buffer = buffer(&writer, true, 8);
    for _ in 0..3 {
        // The sink fails: the first line is kept as unsent, the second one fills the buffer, the third is dropped.
        buffer.push(false, |lines| lines.extend(b"an info\n"));
    }
    assert_eq!(buffer.dropped.load(Ordering::Relaxed), 1);
    // In the reserve.
    buffer.push(true, |lines| lines.extend(b"a warning\n"));
    assert_eq!(buffer.dropped.load(Ordering::Relaxed), 1);
    set_failing(&buffer, false);
    writer.finish();
    assert_eq!(written(&buffer), "an info\nan info\na warning\n");
    assert_eq!(buffer.dropped.load(Ordering::Relaxed), 0, "reported");
}

#[test]
fn warnings_do_not_wait_for_a_sink_that_fails() {
    let writer = Arc::new(Writer::default());
    let buffer = buffer(&writer, true, 8);
    for _ in 0..100 {
        buffer.push(true, |lines| lines.extend(b"warning!\n"));
    }
    // One is unsent, two are in the buffer and its reserve.
    assert_eq!(buffer.dropped.load(Ordering::Relaxed), 97);
}

#[test]
fn a_thread_begins_with_the_first_line_and_ends_with_the_last() {
    let writer = Arc::new(Writer::default());
    writer.use_thread(None);
    let buffer = buffer(&writer, false, 100);
    assert!(lock(&writer.thread).is_none());
    buffer.push(false, |lines| lines.extend(b"one line\n"));
    assert!(lock(&writer.thread).is_some());
    buffer.push(false, |lines| lines.extend(b"another\n"));
    writer.finish();
    assert!(lock(&buffer.lines).is_empty() && lock(&writer.thread).is_none());
    assert_eq!(written(&buffer), "one line\nanother\n");
}

#[test]
fn warnings_wait_for_a_writer_that_is_slow() {
    let writer = Arc::new(Writer::default());
    writer.use_thread(None);
    let buffer = buffer(&writer, false, 16);
    for _ in 0..1000 {
        buffer.push(true, |lines| lines.extend(b"a warning\n"));
    }
    writer.finish();
    assert_eq!(written(&buffer).lines().count(), 1000);
}
