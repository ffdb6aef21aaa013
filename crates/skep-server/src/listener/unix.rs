//! Unix sockets.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::error::StartError;

/// The file of a socket. Removed when dropped, unless another file has replaced it.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    inode: u64,
}

/// A listening socket for clients.
pub(super) fn listen(path: &Path, backlog: i32) -> Result<(UnixListener, SocketFile), StartError> {
    bind(path, backlog).map_err(|error| StartError::new(format!("cannot listen on unix:{}: {error}", path.display())))
}

/// A listening socket that replaces a stale one.
pub(crate) fn bind(path: &Path, backlog: i32) -> io::Result<(UnixListener, SocketFile)> {
    make_room(path).map_err(io::Error::other)?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    rustix::net::listen(&socket, backlog)?;
    Ok((UnixListener::from(socket), SocketFile::at(path)?))
}

impl SocketFile {
    /// A socket file that this process has created, perhaps before it was upgraded.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), inode: fs::symlink_metadata(path)?.ino() })
    }
}

/// Removes a stale socket, which nobody listens on. Nothing else is removed.
fn make_room(path: &Path) -> Result<(), String> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    if !found.file_type().is_socket() {
        return Err("the file exists, and is not a socket".to_owned());
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(|error| format!("a stale socket could not be removed: {error}"))
        }
        Err(error) => Err(error.to_string()),
        Ok(_) => Err("another process listens on it".to_owned()),
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| found.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/listener/unix.rs"]
mod tests;
