//! A version of the application: an executable file, as it was when it was opened.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// An executable file, held open, so that it can be executed after its path was overwritten.
#[derive(Debug)]
pub(crate) struct Executable {
    pub(crate) path: PathBuf,
    file: File,
    hash: u64,
    pub(crate) stamp: Stamp,
}

/// Changes when a file is written or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: u64,
    length: u64,
    modified: (i64, i64),
}

impl Executable {
    pub(crate) fn of_process() -> io::Result<Self> {
        let file = File::open("/proc/self/exe")?;
        Self::new(path_of_process()?, file)
    }

    /// The file at this path. Fails for an incomplete file, or one for another kind of machine.
    pub(crate) fn at(path: &Path) -> Result<Self, String> {
        let wrong = |error: io::Error| format!("{}: {error}", path.display());
        let file = File::open(path).map_err(wrong)?;
        let about = file.metadata().map_err(wrong)?;
        if !about.is_file() || about.permissions().mode() & 0o111 == 0 {
            return Err(format!("{}: not an executable file", path.display()));
        }
        is_whole(&file, about.len()).map_err(|problem| format!("{}: {problem}", path.display()))?;
        Self::new(path.to_owned(), file).map_err(wrong)
    }

    fn new(path: PathBuf, mut file: File) -> io::Result<Self> {
        let stamp = Stamp::of(&file.metadata()?);
        let hash = hash(&mut file)?;
        Ok(Self { path, file, hash, stamp })
    }

    pub(crate) fn version(&self) -> String {
        format!("{:08x}", self.hash >> 32)
    }

    /// The number of this build, which keeps the cache entries of different builds apart.
    pub(crate) fn build(&self) -> u32 {
        u32::try_from(self.hash >> 32).unwrap_or_default()
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.hash == other.hash
    }

    /// A command that executes this very file, even if its path was overwritten.
    pub(crate) fn command(&self) -> Command {
        Command::new(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }
}

impl Stamp {
    /// The state of the file at this path.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|about| Self::of(&about))
    }

    fn of(about: &fs::Metadata) -> Self {
        Self { inode: about.ino(), length: about.len(), modified: (about.mtime(), about.mtime_nsec()) }
    }
}

/// The path that this process was started by, if it still leads there: a symbolic link may lead to another version
/// later.
fn path_of_process() -> io::Result<PathBuf> {
    let real = std::env::current_exe()?;
    let said = std::env::args_os().next().map(PathBuf::from).filter(|path| path.components().count() > 1);
    let said = said.and_then(|path| std::path::absolute(path).ok());
    Ok(said.filter(|path| fs::canonicalize(path).is_ok_and(|found| found == real)).unwrap_or(real))
}

/// FNV-1a: it distinguishes versions, and need not resist an attacker, who could replace the executable anyway.
fn hash(file: &mut File) -> io::Result<u64> {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut buffer = [0; 16 << 10];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(hash);
        }
        for byte in &buffer[..count] {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// An ELF file contains its section table, usually at its end; an incomplete file is recognised by that.
fn is_whole(file: &File, length: u64) -> Result<(), String> {
    let (mut head, mut own) = ([0; 64], [0; 64]);
    file.read_exact_at(&mut head, 0).map_err(|_| "too short for an executable".to_owned())?;
    if &head[..4] != b"\x7fELF" {
        return Err("not an ELF executable".into());
    }
    let read = File::open("/proc/self/exe").and_then(|file| file.read_exact_at(&mut own, 0));
    // Class, byte order, and machine (`e_machine`).
    if read.is_ok() && (head[4..6] != own[4..6] || head[18..20] != own[18..20]) {
        return Err("an executable for another kind of machine".into());
    }
    let number = |at: usize, bytes: usize| {
        head[at..at + bytes].iter().rev().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte))
    };
    // `e_shoff`, `e_shentsize`, `e_shnum` of a little-endian 64-bit file.
    let end = number(40, 8).saturating_add(number(58, 2) * number(60, 2));
    if head[4..6] == [2, 1] && end > length {
        return Err(format!("it is not complete: {length} bytes of at least {end}"));
    }
    Ok(())
}

#[cfg(test)]
#[path = "../tests/unit/executable.rs"]
mod tests;
