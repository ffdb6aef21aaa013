//! Unit tests of `log::buffer`.

use super::*;

fn buffer(writer: &Arc<Writer>, fails: bool, capacity: usize) -> Arc<LogBuffer> {
    let sink = Arc::new(Sink::Test(Mutex::new((fails, Vec::new()))));
    let to = Destination { name: "test".into(), description: String::new(), sink, end: b'\n' };
    writer.buffer(to, Capacity { usual: capacity, reserve: capacity })
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
fn an_output_that_fails_for_long_gets_all_warnings_later() {
    let writer = Arc::new(Writer::default());
    let to = Destination {
        name: "test".into(),
        description: String::new(),
        sink: Arc::new(Sink::Test(Mutex::new((true, Vec::new())))),
        end: b'\n',
    };
    let buffer = writer.buffer(to, Capacity { usual: 100, reserve: 10_000 });
    for number in 0..500 {
        buffer.push(false, |lines| lines.extend(b"an info\n"));
        buffer.push(true, |lines| lines.extend(format!("warning {number}\n").bytes()));
    }
    let dropped = buffer.dropped.load(Ordering::Relaxed);
    set_failing(&buffer, false);
    writer.finish();
    let written = written(&buffer);
    let warnings: Vec<&str> = written.lines().filter(|line| line.starts_with("warning")).collect();
    let expected: Vec<String> = (0..500).map(|number| format!("warning {number}")).collect();
    assert_eq!(warnings, expected, "none is lost, and they are in order");
    let infos = written.lines().filter(|line| *line == "an info").count() as u64;
    assert!(infos < 500 && infos + dropped == 500, "{infos} and {dropped}");
}

/// A pipe that nobody reads.
#[test]
fn a_warning_waits_in_vain_only_once() {
    let path = std::env::temp_dir().join(format!("skep-log-waits-{}", std::process::id()));
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let _open = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let writer = Arc::new(Writer::default());
    writer.use_thread(None);
    let sink =
        Arc::new(Sink::File(crate::log::sink::LogFile::new(path.clone(), crate::log::sink::Rotation::default())));
    let to = Destination { name: "test".into(), description: String::new(), sink, end: b'\n' };
    let buffer = writer.buffer(to, Capacity { usual: 1024, reserve: 1024 });
    let start = std::time::Instant::now();
    while buffer.dropped.load(Ordering::Relaxed) < 100 {
        buffer.push(true, |lines| lines.extend(b"a warning that is as long as a warning is\n"));
    }
    let time = start.elapsed();
    std::fs::remove_file(path).unwrap();
    assert!(time >= WAIT_FOR_ROOM && time < 3 * WAIT_FOR_ROOM, "{time:?}");
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
