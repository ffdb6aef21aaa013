//! Changes of files below some folders, by inotify.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// What says that a file is another one now, or that a folder came or went.
const EVENTS: WatchFlags = WatchFlags::CLOSE_WRITE
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::ONLYDIR);

/// Folders that no source is in.
const LEFT_OUT: [&str; 2] = ["node_modules", "target"];

/// What changed.
#[derive(Debug)]
pub(crate) enum Seen {
    File(PathBuf),
    /// More than the kernel could tell.
    Overflow,
}

struct Watcher {
    inotify: OwnedFd,
    folders: HashMap<i32, PathBuf>,
    left_out: PathBuf,
    to: UnboundedSender<Seen>,
}

/// Watches all folders below `roots`, except hidden ones and `left_out`, on a thread that ends with the receiver.
pub(crate) fn start(roots: &[PathBuf], left_out: &Path) -> io::Result<UnboundedReceiver<Seen>> {
    let (to, seen) = unbounded_channel();
    let inotify = inotify::init(CreateFlags::CLOEXEC)?;
    let mut watcher = Watcher { inotify, folders: HashMap::new(), left_out: left_out.to_owned(), to };
    for root in roots {
        watcher.add(root)?;
    }
    thread::Builder::new().name("watch".into()).spawn(move || watcher.run())?;
    Ok(seen)
}

impl Watcher {
    /// Watches a folder, and those in it.
    fn add(&mut self, folder: &Path) -> io::Result<()> {
        let watch = match inotify::add_watch(&self.inotify, folder, EVENTS) {
            Ok(watch) => watch,
            // It went away, or is no folder.
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR | rustix::io::Errno::ACCESS) => return Ok(()),
            Err(error) => return Err(io::Error::other(format!("{} cannot be watched: {error}", folder.display()))),
        };
        self.folders.insert(watch, folder.to_owned());
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && !self.is_left_out(&entry.path()) {
                self.add(&entry.path())?;
            }
        }
        Ok(())
    }

    fn is_left_out(&self, folder: &Path) -> bool {
        let name = folder.file_name().unwrap_or_default();
        name.as_bytes().starts_with(b".") || LEFT_OUT.iter().any(|one| name == *one) || folder == self.left_out
    }

    fn run(mut self) {
        let Ok(inotify) = self.inotify.try_clone() else { return };
        let mut buffer = [const { MaybeUninit::uninit() }; 16 << 10];
        let mut reader = Reader::new(inotify, &mut buffer);
        loop {
            let seen = match reader.next() {
                Ok(event) => self.seen(event.wd(), event.events(), event.file_name().map(std::ffi::CStr::to_bytes)),
                Err(rustix::io::Errno::INTR) => None,
                Err(_) => return,
            };
            if seen.is_some_and(|seen| self.to.send(seen).is_err()) {
                return;
            }
        }
    }

    fn seen(&mut self, watch: i32, events: ReadFlags, name: Option<&[u8]>) -> Option<Seen> {
        if events.contains(ReadFlags::QUEUE_OVERFLOW) {
            return Some(Seen::Overflow);
        }
        let path = self.folders.get(&watch)?.join(OsStr::from_bytes(name?));
        if events.contains(ReadFlags::ISDIR) && events.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) {
            if self.is_left_out(&path) {
                return None;
            }
            // What is in it by now was made before it was watched.
            let _ = self.add(&path);
        }
        Some(Seen::File(path))
    }
}

#[cfg(test)]
#[path = "../tests/unit/watch.rs"]
mod tests;
