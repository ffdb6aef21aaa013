//! Unit tests of `log::sink::file`.

use std::fs;
use std::io::Read;
use std::sync::Arc;

use flate2::read::GzDecoder;

use super::*;
use crate::log::buffer::{Destination, Writer};
use crate::log::sink::Sink;

/// For readers that are not waited for.
const NOW: Duration = Duration::ZERO;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("skep-log-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn log(&self) -> PathBuf {
        self.0.join("blog.log")
    }

    fn archive<'a>(path: &'a Path, rotation: &'a Rotation) -> Archive<'a> {
        Archive { path, rotation }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_file_is_rotated_before_it_exceeds_its_size() {
    let folder = Folder::new("size");
    let rotation = Rotation { size: Some(20), keep: Some(2), ..Rotation::default() };
    let log = LogFile::new(folder.log(), rotation.clone());
    for number in 0..9 {
        log.write(format!("line {number}, 10\n").as_bytes(), NOW).unwrap();
    }
    assert_eq!(fs::read_to_string(folder.log()).unwrap(), "line 8, 10\n");
    let path = folder.log();
    let old = Folder::archive(&path, &rotation).files().unwrap();
    let texts: Vec<_> = old.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    assert_eq!(texts, ["line 6, 10\n", "line 7, 10\n"]);
}

#[test]
fn rotated_files_are_compressed_and_kept_in_order() {
    let folder = Folder::new("compress");
    let rotation = Rotation { size: Some(1), compress: true, ..Rotation::default() };
    let log = LogFile::new(folder.log(), rotation.clone());
    for number in 0..4 {
        log.write(format!("{number}\n").as_bytes(), NOW).unwrap();
    }
    let path = folder.log();
    let archive = Folder::archive(&path, &rotation);
    archive.compress().unwrap();
    let mut all = String::new();
    for file in archive.files().unwrap() {
        assert_eq!(file.extension().unwrap(), "gz");
        GzDecoder::new(File::open(file).unwrap()).read_to_string(&mut all).unwrap();
    }
    assert_eq!(all, "0\n1\n2\n");
}

#[test]
fn a_period_ends_at_a_multiple_of_it() {
    let rotation = Rotation { every: Some(Duration::from_hours(1)), ..Rotation::default() };
    let at = |seconds: u64| UNIX_EPOCH + Duration::from_secs(seconds);
    assert!(!rotation.is_due(1, Duration::from_hours(2), at(10_799)));
    assert!(rotation.is_due(1, Duration::from_secs(7199), at(7200)));
    assert!(!rotation.is_due(1, Duration::from_hours(2), at(3600)), "a clock that was set back");
}

#[test]
fn a_clock_that_was_set_back_replaces_no_old_file() {
    let path = Path::new("/var/log/blog.log");
    let (start, mut old) = (1_800_000_000_000, Vec::new());
    // Forwards, the same moment again, a little back, an hour back, and that moment again.
    for now in [start, start, start - 500, start - 3_600_000, start - 3_600_000, start + 2000] {
        let stamp = archive::next_stamp(&old, path, now);
        old.push(PathBuf::from(format!("{}.{stamp}", path.display())));
        old.sort();
    }
    let mut different = old.clone();
    different.dedup();
    assert_eq!((old.len(), &different), (6, &old));
}

#[test]
fn a_file_that_was_renamed_is_opened_again() {
    let folder = Folder::new("renamed");
    let log = LogFile::new(folder.log(), Rotation::default());
    log.write(b"one\n", NOW).unwrap();
    fs::rename(folder.log(), folder.0.join("elsewhere")).unwrap();
    log.write(b"two\n", NOW).unwrap();
    assert_eq!(fs::read_to_string(folder.log()).unwrap(), "two\n");
    fs::remove_file(folder.log()).unwrap();
    log.write(b"three\n", NOW).unwrap();
    assert_eq!(fs::read_to_string(folder.log()).unwrap(), "three\n");
}

#[test]
fn what_a_killed_process_left_unfinished_is_removed() {
    let folder = Folder::new("killed");
    let log = LogFile::new(folder.log(), Rotation::default());
    for (left, expected) in [
        ("whole\nhal".to_owned(), "whole\nnext\n".to_owned()),
        ("never ended".into(), "next\n".into()),
        (format!("whole\n{}", "x".repeat(10_000)), "whole\nnext\n".into()),
    ] {
        fs::write(folder.log(), left).unwrap();
        log.write(b"next\n", NOW).unwrap();
        assert_eq!(fs::read_to_string(folder.log()).unwrap(), expected);
    }
}

#[test]
fn a_full_disk_takes_whole_lines_or_nothing() {
    // /dev/full fails as a full disk does.
    let log = LogFile::new("/dev/full".into(), Rotation::default());
    let stopped = log.write(b"one\ntwo\n", NOW).unwrap_err();
    assert_eq!((stopped.written, stopped.error.raw_os_error()), (0, Some(libc::ENOSPC)));
}

#[test]
fn a_folder_that_is_missing_is_an_error_until_it_is_there() {
    let folder = Folder::new("missing");
    let log = LogFile::new(folder.0.join("later/blog.log"), Rotation::default());
    assert_eq!(log.write(b"one\n", NOW).unwrap_err().error.kind(), io::ErrorKind::NotFound);
    fs::create_dir(folder.0.join("later")).unwrap();
    log.write(b"one\n", NOW).unwrap();
}

/// A process of `lines_of_several_processes_are_whole`: writes numbered lines as a server does, as fast as it can.
#[test]
fn a_process_that_writes() {
    let Ok(task) = std::env::var("SKEP_TEST_LOG") else { return };
    let [path, process, count] = task.split(' ').collect::<Vec<_>>()[..] else { panic!("{task}") };
    let rotation = Rotation { size: Some(rotation_size(count.parse().unwrap())), ..Rotation::default() };
    let writer = Arc::<Writer>::default();
    writer.use_thread();
    let sink = Arc::new(Sink::File(LogFile::new(path.into(), rotation)));
    let buffer = writer.buffer(Destination { name: "test".into(), sink, end: b'\n' }, 64 << 10);
    for number in 0..count.parse::<u64>().unwrap() {
        let filler = "x".repeat(usize::try_from(number % 100).unwrap());
        buffer.push(true, |out| out.extend_from_slice(format!("{process} {number} {filler}.\n").as_bytes()));
    }
    writer.finish();
}

/// Some ten files.
fn rotation_size(lines: u64) -> u64 {
    lines * 60 * 4 / 10
}

/// `SKEP_TEST_LOG_LINES=250000` is the drill with a million lines.
#[test]
fn lines_of_several_processes_are_whole_and_in_order_though_one_is_killed() {
    let folder = Folder::new("processes");
    let count: u64 = std::env::var("SKEP_TEST_LOG_LINES").map_or(5000, |count| count.parse().unwrap());
    let start = |process: u64| {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "log::sink::file::tests::a_process_that_writes"]).stdout(std::process::Stdio::null());
        command.env("SKEP_TEST_LOG", format!("{} {process} {count}", folder.log().display())).spawn().unwrap()
    };
    let mut processes: Vec<_> = (0..4).map(start).collect();
    // In the middle of its work, if there is enough of it.
    while fs::metadata(folder.log()).map_or(0, |file| file.len()) < rotation_size(count) / 2 {
        std::thread::yield_now();
    }
    processes[3].kill().unwrap();
    let ended: Vec<bool> = processes.iter_mut().map(|process| process.wait().unwrap().success()).collect();
    assert_eq!(ended[..3], [true; 3]);
    // The next writer finds what the killed process may have left.
    let rotation = Rotation { size: Some(rotation_size(count)), ..Rotation::default() };
    LogFile::new(folder.log(), rotation.clone()).write(b"4 0 .\n", NOW).unwrap();
    let path = folder.log();
    let mut files = Folder::archive(&path, &rotation).files().unwrap();
    assert!(files.len() > 2, "rotated");
    files.push(path.clone());
    let mut next = [0_u64; 5];
    for line in files.iter().map(|file| fs::read_to_string(file).unwrap()).collect::<String>().lines() {
        let [process, number, filler] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("torn: {line}") };
        let (process, number): (usize, u64) = (process.parse().unwrap(), number.parse().unwrap());
        assert_eq!(filler.len() as u64, number % 100 + 1, "torn: {line}");
        assert_eq!(next[process], number, "lost, doubled or out of order: {line}");
        next[process] += 1;
    }
    assert_eq!(next[..3], [count; 3]);
    assert!(next[3] <= count);
}

#[test]
fn a_fifo_is_written_while_it_is_read_and_never_waited_for() {
    let folder = Folder::new("fifo");
    let path = folder.log();
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let log = LogFile::new(path.clone(), Rotation { size: Some(1), ..Rotation::default() });
    let stopped = log.write(b"one\n", NOW).unwrap_err();
    assert!(stopped.written == 0 && !stopped.is_slow());
    assert_eq!(stopped.error.to_string(), "it is a FIFO that no process reads");
    let reader = || OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&path).unwrap();
    let mut first = reader();
    log.write(b"one\n", NOW).unwrap();
    let mut bytes = [0; 100];
    let read = first.read(&mut bytes).unwrap();
    assert_eq!(&bytes[..read], b"one\n");
    // It stands still: what it has not taken is for later, whole lines first.
    let lines = b"a line of 16 it.\n".repeat(8192);
    let stopped = log.write(&lines, NOW).unwrap_err();
    assert!(stopped.is_slow() && stopped.written > 0 && stopped.written.is_multiple_of(17), "{stopped:?}");
    drop(first);
    assert_eq!(log.write(b"two\n", NOW).unwrap_err().error.kind(), io::ErrorKind::BrokenPipe);
    // The next one finds what the first one has left.
    let mut second = reader();
    assert!(log.write(b"two\n", NOW).unwrap_err().is_slow());
    let mut left = Vec::new();
    assert_eq!(second.read_to_end(&mut left).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert_eq!(left.len(), stopped.written);
    log.write(b"two\n", NOW).unwrap();
    let read = second.read(&mut bytes).unwrap();
    assert_eq!(&bytes[..read], b"two\n");
    fs::remove_file(&path).unwrap();
    log.write(b"three\n", NOW).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"three\n", "it was replaced");
}
