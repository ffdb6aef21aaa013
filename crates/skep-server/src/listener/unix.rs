//! Unix sockets, and who can connect to them.

use std::fmt;
use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags, accessat};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::{getegid, geteuid};

use super::UnixAddress;
use crate::error::StartError;

/// The file of a socket. Removed when dropped, unless another file has replaced it.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    inode: u64,
}

/// Only the owner of the file can connect.
const OWNER: u32 = 0o600;

/// A listening socket for clients.
pub(super) fn listen(address: &UnixAddress, backlog: i32) -> Result<(UnixListener, SocketFile), StartError> {
    let failed =
        |error: io::Error| StartError::new(format!("cannot listen on unix:{}: {error}", address.path.display()));
    let group = address.group.as_deref().map(group_id).transpose().map_err(failed)?;
    let (socket, file) = bind(&address.path, backlog).map_err(failed)?;
    if (address.mode(), group) != (OWNER, None) {
        open_to(&address.path, address.mode(), group).map_err(failed)?;
    }
    Ok((socket, file))
}

/// What [`listen`] would refuse.
pub(super) fn check(address: &UnixAddress, is_own: impl Fn() -> bool) -> Result<(), StartError> {
    let path = &address.path;
    let failed = |error: io::Error| StartError::new(format!("cannot listen on unix:{}: {error}", path.display()));
    SocketAddrUnix::new(&**path).map_err(|error| failed(error.into()))?;
    let group = address.group.as_deref().map(group_id).transpose().map_err(failed)?;
    let groups = rustix::process::getgroups().unwrap_or_default();
    let may_give = |group: u32| {
        geteuid().is_root() || getegid().as_raw() == group || groups.iter().any(|own| own.as_raw() == group)
    };
    if let Some(group) = group.filter(|group| !may_give(*group)) {
        return Err(failed(io::Error::other(format!(
            "this user is not in the group {group}, so it cannot be given to it"
        ))));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let access = Access::WRITE_OK | Access::EXEC_OK;
    let usable = match fs::metadata(folder) {
        Ok(found) if !found.is_dir() => Err(io::ErrorKind::NotADirectory.into()),
        Ok(_) => accessat(CWD, folder, access, AtFlags::EACCESS).map_err(io::Error::from),
        Err(error) => Err(error),
    };
    usable.map_err(|error| failed(io::Error::other(format!("{}: {error}", folder.display()))))?;
    match is_free(path) {
        Err(Occupied::Listening) if is_own() => Ok(()),
        Err(occupied) => Err(failed(io::Error::other(occupied.to_string()))),
        Ok(_) => Ok(()),
    }
}

/// A listening socket that replaces a stale one. Only its owner can connect.
pub(crate) fn bind(path: &Path, backlog: i32) -> io::Result<(UnixListener, SocketFile)> {
    make_room(path).map_err(io::Error::other)?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    // The file is made with this mode: nobody else can connect, not even for a moment.
    rustix::fs::fchmod(&socket, Mode::from_raw_mode(OWNER))?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    let file = SocketFile::at(path)?;
    rustix::net::listen(&socket, backlog)?;
    Ok((UnixListener::from(socket), file))
}

/// Gives the file of a new socket to a group, and then lets others connect. By a descriptor: who can change the folder
/// may have put another file there.
fn open_to(path: &Path, mode: u32, group: Option<u32>) -> io::Result<()> {
    let file = rustix::fs::open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let found = rustix::fs::fstat(&file)?;
    let is_ours = FileType::from_raw_mode(found.st_mode) == FileType::Socket
        && found.st_uid == geteuid().as_raw()
        && found.st_nlink == 1;
    if !is_ours {
        return Err(io::Error::other("another file has taken its place"));
    }
    let file_itself = format!("/proc/self/fd/{}", file.as_raw_fd());
    if group.is_some() {
        std::os::unix::fs::chown(&file_itself, None, group)
            .map_err(|error| io::Error::new(error.kind(), format!("it cannot be given to its group: {error}")))?;
    }
    fs::set_permissions(&file_itself, fs::Permissions::from_mode(mode))
}

/// The number of a group of `/etc/group`, by its name or the number itself.
fn group_id(name: &str) -> io::Result<u32> {
    let groups = fs::read_to_string("/etc/group").unwrap_or_default();
    let mut rows = groups.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let found = rows.find(|row| row[0] == name).and_then(|row| row.get(2)?.parse().ok());
    let found = found.or_else(|| name.parse().ok());
    found.ok_or_else(|| io::Error::other(format!("group={name}: there is no such group in /etc/group")))
}

impl SocketFile {
    /// A socket file that this process has created, perhaps before it was upgraded.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        Ok(Self { path: path.to_owned(), inode: fs::symlink_metadata(path)?.ino() })
    }
}

/// Why a socket cannot be made at a path.
enum Occupied {
    NotASocket,
    Listening,
    Unknown(io::Error),
}

/// Whether a socket can be made there; true if a stale one, which nobody listens on, must be removed first.
fn is_free(path: &Path) -> Result<bool, Occupied> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(false) };
    if !found.file_type().is_socket() {
        return Err(Occupied::NotASocket);
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(true),
        Err(error) => Err(Occupied::Unknown(error)),
        Ok(_) => Err(Occupied::Listening),
    }
}

/// Removes a stale socket. Nothing else is removed.
fn make_room(path: &Path) -> Result<(), String> {
    if is_free(path).map_err(|occupied| occupied.to_string())? {
        fs::remove_file(path).map_err(|error| format!("a stale socket could not be removed: {error}"))?;
    }
    Ok(())
}

impl fmt::Display for Occupied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotASocket => f.write_str("the file exists, and is not a socket"),
            Self::Listening => f.write_str("another process listens on it"),
            Self::Unknown(error) => error.fmt(f),
        }
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
