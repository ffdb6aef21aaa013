//! Files that only the user may read who runs the server: the database, sessions, keys.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Makes the file, and the folders above it, if they are not there: for their owner only.
#[cfg(not(target_family = "wasm"))]
pub fn create(file: &Path) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        create_folder(folder)?;
    }
    options().append(true).create(true).open(file).map(drop)
}

/// A new file for its owner only; one that is there is an error.
pub fn create_new(file: &Path) -> io::Result<File> {
    options().write(true).create_new(true).open(file)
}

/// Makes the folder, and those above it, if they are not there: for their owner only.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Refuses a file with secrets that everybody may read or that others may change, with the command that mends it. A
/// group may read it: that is how containers are given secrets.
pub fn check_secret(file: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(file)?.permissions()) & 0o777;
        if mode & 0o027 != 0 {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!("it has mode {mode:03o}, so others may read or change it: chmod 600 {}", file.display()),
            ));
        }
    }
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

/// Whether this process may write to a file or folder that is there; one that is not is no error.
#[cfg(not(target_family = "wasm"))]
pub fn check_writable(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::fs::{Access, AtFlags, CWD, accessat};

        match accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS) {
            Err(error) if error != rustix::io::Errno::NOENT => {
                let problem = format!("{} cannot be written: {}", path.display(), io::Error::from(error));
                return Err(io::Error::new(io::Error::from(error).kind(), problem));
            }
            _ => {}
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

fn options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only unix has modes"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
