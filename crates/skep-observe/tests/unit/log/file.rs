//! Unit tests of `log::sink::file`.

use std::fs;
use std::io::Read;
use std::sync::Arc;

use flate2::read::GzDecoder;

use super::*;
use crate::log::buffer::{Capacity, Destination, Writer};
use crate::log::output::Target;
use crate::log::{LastLines, Logs};

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
        log.write(format!("line {number}, 10\n").as_bytes(), NOW, Progress::NONE).unwrap();
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
        log.write(format!("{number}\n").as_bytes(), NOW, Progress::NONE).unwrap();
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
    log.write(b"one\n", NOW, Progress::NONE).unwrap();
    fs::rename(folder.log(), folder.0.join("elsewhere")).unwrap();
    log.write(b"two\n", NOW, Progress::NONE).unwrap();
    assert_eq!(fs::read_to_string(folder.log()).unwrap(), "two\n");
    fs::remove_file(folder.log()).unwrap();
    log.write(b"three\n", NOW, Progress::NONE).unwrap();
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
        log.write(b"next\n", NOW, Progress::NONE).unwrap();
        assert_eq!(fs::read_to_string(folder.log()).unwrap(), expected);
    }
}

#[test]
fn a_full_disk_takes_whole_lines_or_nothing() {
    // /dev/full fails as a full disk does.
    let log = LogFile::new("/dev/full".into(), Rotation::default());
    let stopped = log.write(b"one\ntwo\n", NOW, Progress::NONE).unwrap_err();
    assert_eq!((stopped.written, stopped.error.raw_os_error()), (0, Some(libc::ENOSPC)));
}

#[test]
fn a_folder_that_is_missing_is_an_error_until_it_is_there() {
    let folder = Folder::new("missing");
    let log = LogFile::new(folder.0.join("later/blog.log"), Rotation::default());
    assert_eq!(log.write(b"one\n", NOW, Progress::NONE).unwrap_err().error.kind(), io::ErrorKind::NotFound);
    fs::create_dir(folder.0.join("later")).unwrap();
    log.write(b"one\n", NOW, Progress::NONE).unwrap();
}

/// A process of `lines_of`: writes numbered lines as a server does. One that is to be killed is, right after its last
/// line.
#[test]
fn a_process_that_writes() {
    let Ok(task) = std::env::var("SKEP_TEST_LOG") else { return };
    let [path, every, process, count] = task.split(' ').collect::<Vec<_>>()[..] else { panic!("{task}") };
    let (process, count): (usize, u64) = (process.parse().unwrap(), count.parse().unwrap());
    let (target, lines) = (target(path, every), last_lines(Path::new(path), false));
    let writer = Arc::<Writer>::default();
    writer.use_thread(Some(lines.areas(process % AT_ONCE)));
    let (description, sink) = (target.describe(), Arc::new(target.open()));
    let buffer = writer.buffer(Destination { name: "test".into(), description, sink, end: b'\n' }, CAPACITY);
    for number in 0..count {
        if number % 100 == 0 {
            // So that all of them take several periods.
            std::thread::sleep(Duration::from_millis(1));
        }
        let filler = "x".repeat(usize::try_from(number % 100).unwrap());
        buffer.push(true, |out| out.extend_from_slice(format!("{process} {number} {filler}.\n").as_bytes()));
    }
    if is_killed(process) {
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
    }
    writer.finish();
}

const PROCESSES: usize = 40;
const AT_ONCE: usize = 4;
const CAPACITY: Capacity = Capacity { usual: 64 << 10, reserve: 64 << 10 };

/// One in ten.
fn is_killed(process: usize) -> bool {
    process % 10 == 7
}

fn target(path: &str, every: &str) -> Target {
    Target::of_description(&format!("file:{path} every={every}")).unwrap()
}

/// The memory of all processes that run at a time, in a file beside the log.
fn last_lines(log: &Path, is_new: bool) -> Arc<LastLines> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(log.with_extension("last"));
    let file = file.unwrap().into();
    if is_new {
        LastLines::new(file, AT_ONCE, 1, CAPACITY.all()).unwrap()
    } else {
        LastLines::open(file).unwrap().unwrap()
    }
}

/// Four processes at a time, each followed by another one, write this many lines each; the file is rotated again and
/// again, and one in ten is killed.
fn lines_of(count: u64, every: &str) {
    let folder = Folder::new(&format!("processes-{count}"));
    let memory = last_lines(&folder.log(), true);
    let run = |process: usize| {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "log::sink::file::tests::a_process_that_writes"]).stdout(std::process::Stdio::null());
        command.env("SKEP_TEST_LOG", format!("{} {every} {process} {count}", folder.log().display()));
        assert_eq!(command.status().unwrap().success(), !is_killed(process));
        // As its supervisor does, while the others go on.
        let logs = Logs {
            writer: Arc::default(),
            access: Vec::new(),
            capacity: Capacity { usual: 0, reserve: 0 },
            sinks: Mutex::default(),
            own: None,
        };
        logs.write_last_lines(&memory.areas(process % AT_ONCE), |_| true);
    };
    std::thread::scope(|scope| {
        for first in 0..AT_ONCE {
            scope.spawn(move || (first..PROCESSES).step_by(AT_ONCE).for_each(run));
        }
    });
    let (path, rotation) = (folder.log(), Rotation::default());
    let mut files = Folder::archive(&path, &rotation).files().unwrap();
    assert!(files.len() > 1, "rotated");
    files.push(path.clone());
    let mut next = [0_u64; PROCESSES];
    for line in files.iter().map(|file| fs::read_to_string(file).unwrap()).collect::<String>().lines() {
        let [process, number, filler] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("torn: {line}") };
        let (process, number): (usize, u64) = (process.parse().unwrap(), number.parse().unwrap());
        assert_eq!(filler.len() as u64, number % 100 + 1, "torn: {line}");
        assert_eq!(next[process], number, "lost, doubled or out of order: {line}");
        next[process] += 1;
    }
    assert_eq!(next, [count; PROCESSES]);
}

#[test]
fn lines_of_several_processes_are_whole_and_in_order_though_one_in_ten_is_killed() {
    lines_of(500, "20ms");
}

/// In the step `long` of `cargo xtask test`.
mod long {
    use super::lines_of;

    #[test]
    #[ignore = "takes long: a million lines"]
    fn a_million_lines_are_whole_and_in_order_though_one_process_in_ten_is_killed() {
        lines_of(25_000, "1s");
    }
}

/// It was killed within the write, or before it, or after it; and the file may be an old one by now.
#[test]
fn lines_that_a_killed_process_has_written_are_known() {
    let folder = Folder::new("taken");
    let log = LogFile::new(folder.log(), Rotation { size: Some(30), ..Rotation::default() });
    log.write(b"before\n", NOW, Progress::NONE).unwrap();
    let inode = folder.log().metadata().unwrap().ino();
    let (begun, lines) = ((inode, 7), b"one\ntwo\nthree\n");
    assert_eq!(log.has_taken(begun, lines), 0);
    fs::write(folder.log(), "before\none\ntwo\nthr").unwrap();
    assert_eq!(log.has_taken(begun, lines), 8);
    log.write(b"another one, so\n", NOW, Progress::NONE).unwrap();
    assert_ne!(folder.log().metadata().unwrap().ino(), inode, "rotated");
    assert_eq!(log.has_taken(begun, lines), 8);
    assert_eq!(log.has_taken((inode, 0), lines), 0, "other lines");
    assert_eq!(log.has_taken((0, 7), lines), 0);
}

#[test]
fn a_fifo_is_written_while_it_is_read_and_never_waited_for() {
    let folder = Folder::new("fifo");
    let path = folder.log();
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let log = LogFile::new(path.clone(), Rotation { size: Some(1), ..Rotation::default() });
    let stopped = log.write(b"one\n", NOW, Progress::NONE).unwrap_err();
    assert!(stopped.written == 0 && !stopped.is_slow());
    assert_eq!(stopped.error.to_string(), "it is a FIFO that no process reads");
    let reader = || OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&path).unwrap();
    let mut first = reader();
    log.write(b"one\n", NOW, Progress::NONE).unwrap();
    let mut bytes = [0; 100];
    let read = first.read(&mut bytes).unwrap();
    assert_eq!(&bytes[..read], b"one\n");
    // It stands still: what it has not taken is for later, whole lines first.
    let lines = b"a line of 16 it.\n".repeat(8192);
    let stopped = log.write(&lines, NOW, Progress::NONE).unwrap_err();
    assert!(stopped.is_slow() && stopped.written > 0 && stopped.written.is_multiple_of(17), "{stopped:?}");
    drop(first);
    assert_eq!(log.write(b"two\n", NOW, Progress::NONE).unwrap_err().error.kind(), io::ErrorKind::BrokenPipe);
    // The next one finds what the first one has left.
    let mut second = reader();
    assert!(log.write(b"two\n", NOW, Progress::NONE).unwrap_err().is_slow());
    let mut left = Vec::new();
    assert_eq!(second.read_to_end(&mut left).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert_eq!(left.len(), stopped.written);
    log.write(b"two\n", NOW, Progress::NONE).unwrap();
    let read = second.read(&mut bytes).unwrap();
    assert_eq!(&bytes[..read], b"two\n");
    fs::remove_file(&path).unwrap();
    log.write(b"three\n", NOW, Progress::NONE).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"three\n", "it was replaced");
}
