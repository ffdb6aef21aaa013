//! Unit tests of `log::buffer`.

use super::*;

#[test]
fn a_full_buffer_drops_lines_and_counts_them() {
    let writer = Arc::new(Writer::default());
    writer.use_thread();
    writer.begin().unwrap();
    let buffer = writer.buffer(Stream::Error, 0);
    buffer.push(|_| panic!("there is no room"));
    buffer.push(|_| panic!("there is no room"));
    assert_eq!(buffer.dropped.load(Ordering::Relaxed), 2);
    buffer.dropped.store(0, Ordering::Relaxed);
    writer.finish();
}

#[test]
fn a_thread_begins_with_the_first_line_and_ends_with_the_last() {
    let writer = Arc::new(Writer::default());
    writer.use_thread();
    let buffer = writer.buffer(Stream::Null, 100);
    assert!(lock(&writer.thread).is_none());
    buffer.push(|lines| lines.extend(b"one line\n"));
    assert!(lock(&writer.thread).is_some());
    buffer.push(|lines| lines.extend(b"another\n"));
    writer.finish();
    assert!(lock(&buffer.lines).is_empty() && lock(&writer.thread).is_none());
}
