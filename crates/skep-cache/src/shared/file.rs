//! The file of a map: creating, opening and replacing it, and its users.
//!
//! A file becomes visible when it is complete: it is created under another name, with all space allocated, and then
//! linked. A file of another version or size, or with damaged constants, is replaced by a new one; processes that
//! mapped the old one keep it. So no file is ever truncated while it is mapped.
//!
//! Each user locks one byte far beyond the end of the file; the number of the byte is that of the user. The system
//! releases the lock when the user dies, so others can ask whether it is alive. Process ids are not used: they are
//! reused, and differ between containers.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::fs::{FallocateFlags, FlockOperation};
use rustix::io::Errno;
use skep_units::lock;

use super::hash::Seeds;
use super::layout::{self, CONSTANTS, Geometry};
use super::lease;
use super::sys::{self, Mapping};
use super::words::Backing;

/// Attempts to open a file that others replace.
const ATTEMPTS: u32 = 20;
/// How long one process waits for another that replaces the file.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The byte of user 0; no file is so long.
const USERS: u64 = 1 << 40;
/// More than the processes of a machine.
const MAX_USERS: u64 = 0xffff;
/// A user without a number: it counts as alive, and its locks are only taken after a time.
const NOBODY: u64 = MAX_USERS;

#[derive(Debug)]
pub(crate) struct MappedFile {
    mapping: Mapping,
    geometry: Geometry,
    file: Mutex<File>,
    path: PathBuf,
    user: AtomicU64,
    /// The process that took the number, by `sys::process`; its children must take their own.
    process: AtomicU64,
}

enum Opened {
    Right(File, Seeds),
    /// Not usable, and why.
    Wrong(File, String),
    Missing,
}

pub(crate) fn open(path: &Path, geometry: &Geometry) -> io::Result<(MappedFile, Seeds)> {
    for _ in 0..ATTEMPTS {
        match look(path, geometry)? {
            Opened::Right(file, seeds) => {
                let ours = MappedFile::enter(file, path, geometry)?;
                ours.mapping.ask_for_huge_pages();
                return Ok((ours, seeds));
            }
            Opened::Missing => make(path, geometry, |new| {
                let linked = rustix::fs::link(new, path);
                let _ = std::fs::remove_file(new);
                match linked {
                    Err(Errno::EXIST) => Ok(()),
                    linked => linked.map_err(io::Error::from),
                }
            })?,
            Opened::Wrong(old, why) => replace(path, geometry, &old, &why)?,
        }
    }
    Err(io::Error::other(format!(
        "{}: replaced by others repeatedly: do processes open it with different sizes?",
        path.display()
    )))
}

/// A file without a name, for this process and its forks. It is gone with the last of them.
pub(crate) fn anonymous(geometry: &Geometry) -> io::Result<(MappedFile, Seeds)> {
    let file = without_name()?;
    // Not allocated: it takes memory as it fills.
    rustix::fs::ftruncate(&file, geometry.bytes as u64)?;
    let seeds = Seeds::draw();
    write_constants(&file, geometry, seeds)?;
    Ok((MappedFile::enter(file, Path::new("a shared map without a name"), geometry)?, seeds))
}

#[cfg(target_os = "linux")]
fn without_name() -> io::Result<File> {
    Ok(rustix::fs::memfd_create("skep-cache", rustix::fs::MemfdFlags::CLOEXEC)?.into())
}

/// It has a name for a moment. If the disk fills up later, writing processes are killed.
#[cfg(not(target_os = "linux"))]
fn without_name() -> io::Result<File> {
    let [random, _] = Seeds::draw().0;
    let path = std::env::temp_dir().join(format!(".skep-cache.{random:016x}"));
    let file = File::options().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

fn look(path: &Path, geometry: &Geometry) -> io::Result<Opened> {
    let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
    let file = match File::options().read(true).write(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Opened::Missing),
        Err(error) if error.raw_os_error() == Some(libc::ELOOP) => {
            return Err(refused(path, "it is a symbolic link; name the file itself"));
        }
        Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
    };
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(refused(path, "it is not a file; name one that is, or one that is not there yet"));
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(refused(path, "it belongs to another user; name a file of your own"));
    }
    if meta.mode() & 0o077 != 0 {
        return Err(refused(path, "others may use it; chmod 600 makes it yours alone"));
    }
    let mut words = [0; CONSTANTS + 1];
    let mut bytes = [0; (CONSTANTS + 1) * 8];
    let read = file.read_at(&mut bytes, 0)?;
    words.iter_mut().zip(bytes.chunks_exact(8)).for_each(|(word, bytes)| *word = super::hash::word(bytes));
    let is_ours = bytes[..read].starts_with(layout::NAME) || bytes.iter().all(|byte| *byte == 0);
    if !is_ours {
        return Err(refused(path, "it is not a cache and would be overwritten; remove it, or name another file"));
    }
    Ok(match geometry.check(&words) {
        Err(why) => Opened::Wrong(file, why),
        Ok(_) if meta.len() != geometry.bytes as u64 => Opened::Wrong(file, format!("it has {} bytes", meta.len())),
        Ok(seeds) => Opened::Right(file, seeds),
    })
}

fn refused(path: &Path, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, format!("{} is not used: {why}", path.display()))
}

/// Replaces a file that is not usable. Of several processes, one does it.
fn replace(path: &Path, geometry: &Geometry, old: &File, why: &str) -> io::Result<()> {
    let end = Instant::now() + TIMEOUT;
    while let Err(error) = rustix::fs::flock(old, FlockOperation::NonBlockingLockExclusive) {
        if error != Errno::WOULDBLOCK || Instant::now() > end {
            return Err(io::Error::new(io::Error::from(error).kind(), format!("{}: {error}", path.display())));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let old = old.metadata()?;
    let is_there = std::fs::symlink_metadata(path).is_ok_and(|now| (now.dev(), now.ino()) == (old.dev(), old.ino()));
    if !is_there {
        return Ok(());
    }
    tracing::warn!(target: "skep_cache", path = %path.display(), why, "replacing a shared map by an empty one");
    make(path, geometry, |new| std::fs::rename(new, path))
}

/// Creates a complete file under another name and passes it to `place`.
fn make(path: &Path, geometry: &Geometry, place: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| refused(path, "it has no name; name a file"))?;
    let [random, _] = Seeds::draw().0;
    let new = path.with_file_name(format!(".{}.{random:016x}", name.display()));
    let options = File::options().read(true).write(true).create_new(true).mode(0o600).clone();
    let made = options.open(&new).and_then(|file| {
        reserve(&file, geometry.bytes)?;
        write_constants(&file, geometry, Seeds::draw())?;
        place(&new)
    });
    if made.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    made.map_err(|error| {
        io::Error::new(error.kind(), format!("{} of {} bytes: {error}", path.display(), geometry.bytes))
    })
}

fn write_constants(file: &File, geometry: &Geometry, seeds: Seeds) -> io::Result<()> {
    let bytes: Vec<u8> = geometry.constants(seeds).iter().flat_map(|word| word.to_le_bytes()).collect();
    file.write_all_at(&bytes, 0)
}

/// Allocates all space: a write into a hole of a full disk would kill the process.
fn reserve(mut file: &File, bytes: usize) -> io::Result<()> {
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes as u64) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => {
            let zeros = vec![0; 1 << 20];
            let sizes = (0..bytes).step_by(zeros.len()).map(|at| zeros.len().min(bytes - at));
            sizes.into_iter().try_for_each(|size| file.write_all(&zeros[..size]))
        }
        reserved => reserved.map_err(io::Error::from),
    }
}

/// The boot id of the machine, or 0 if unknown. After a crash, a file on disk may be a mixture of old and new.
fn boot() -> u64 {
    let mut id = String::new();
    let read = File::open("/proc/sys/kernel/random/boot_id").and_then(|file| file.take(64).read_to_string(&mut id));
    read.map_or(0, |_| Seeds([1, 2]).hash(0, id.trim().as_bytes()))
}

impl MappedFile {
    fn enter(file: File, path: &Path, geometry: &Geometry) -> io::Result<Self> {
        let ours = Self {
            mapping: Mapping::new(&file, geometry.words())?,
            geometry: geometry.clone(),
            file: Mutex::new(file),
            path: path.to_owned(),
            user: AtomicU64::new(NOBODY),
            process: AtomicU64::new(0),
        };
        sys::notice_forks()?;
        ours.register()?;
        Ok(ours)
    }

    /// Whether the machine was rebooted since the file was last used; true for the first caller only.
    pub(crate) fn is_from_before_reboot(&self) -> bool {
        let (word, boot) = (&self.mapping.words()[layout::BOOT], boot());
        let before = word.load(Acquire);
        before != boot && word.compare_exchange(before, boot, AcqRel, Relaxed).is_ok() && before != 0
    }

    /// Takes a user number that is free and has left no locks or leases.
    fn register(&self) -> io::Result<u64> {
        let mut file = lock(&self.file);
        let process = sys::process();
        if self.process.load(Acquire) == process {
            return Ok(self.user.load(Acquire));
        }
        if self.process.load(Acquire) != 0 {
            // A lock belongs to the open file, which a child process shares with its parent: open it again.
            *file = self.open_again(&file)?;
        }
        let start = Seeds::draw().0[0];
        for number in 0..MAX_USERS - 1 {
            let user = 1 + (start.wrapping_add(number)) % (MAX_USERS - 1);
            if !self.has_left_traces(user) && sys::lock_byte(&*file, USERS + user)? {
                self.user.store(user, Release);
                self.process.store(process, Release);
                return Ok(user);
            }
        }
        Err(io::Error::other(format!("{}: the limit of {MAX_USERS} users is reached", self.path.display())))
    }

    fn open_again(&self, file: &File) -> io::Result<File> {
        use std::os::fd::AsRawFd;
        let again = |path: &Path| File::options().read(true).write(true).open(path);
        let own = format!("/proc/self/fd/{}", file.as_raw_fd());
        let opened = again(Path::new(&own)).or_else(|_| again(&self.path))?;
        let (old, new) = (file.metadata()?, opened.metadata()?);
        if (old.dev(), old.ino()) != (new.dev(), new.ino()) {
            return Err(refused(&self.path, "the path names another file now; open the map again after a fork"));
        }
        Ok(opened)
    }

    /// Whether a lock or a lease still has this number: its dead owner must be noticed first.
    fn has_left_traces(&self, user: u64) -> bool {
        let words = self.mapping.words();
        let shards = (0..self.geometry.shards).map(|shard| layout::HEAD + shard * self.geometry.shard);
        shards.into_iter().any(|start| {
            let leases = &words[start + layout::LEASES..][..layout::MOST_LEASES * lease::WORDS];
            words[start + layout::LOCK].load(Relaxed) >> 48 == user
                || leases.chunks_exact(lease::WORDS).any(|place| place[lease::USER].load(Relaxed) == user)
        })
    }
}

impl Backing for MappedFile {
    #[inline]
    fn words(&self) -> &[AtomicU64] {
        self.mapping.words()
    }

    #[inline]
    fn me(&self) -> u64 {
        if self.process.load(Relaxed) == sys::process() {
            return self.user.load(Relaxed);
        }
        self.register().unwrap_or(NOBODY)
    }

    fn lives(&self, user: u64) -> bool {
        if user == NOBODY || user == self.me() {
            return true;
        }
        let file = lock(&self.file);
        sys::is_byte_locked(&*file, USERS + user).unwrap_or(true)
    }

    fn millis(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }
}
