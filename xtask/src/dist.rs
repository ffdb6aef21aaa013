//! `cargo xtask dist`: what is handed out, in `target/dist`. Executables are static, so that they run on any Linux of
//! this architecture: the commands that are quick to build, and the blog, also as an image for containers.

mod image;

use std::fs;
use std::path::{Path, PathBuf};

use crate::needs::{AUTHORITIES, MUSL, NEEDS};
use crate::{command, setup};

/// Packages and their executables: the commands, then the example.
const COMMANDS: [(&str, &str); 2] = [("skep-cli", "skep"), ("skep-dev", "skep-dev")];
const EXAMPLE: &str = "blog";

/// What its needs name beside steps of `test`.
pub(crate) const DIST: &str = "dist";

/// Features of commands that are off by default: `skep dev --tls` needs one.
const FEATURES: &str = "skep-dev/tls";

/// Builds everything, and says how large it is.
pub(crate) fn run() -> Result<(), String> {
    setup::run(NEEDS.iter().filter(|need| need.steps.contains(&DIST)))?;
    build()?;
    let dist = command::root().join("target/dist");
    let _ = fs::remove_dir_all(&dist);
    let version = env!("CARGO_PKG_VERSION");
    let skep = folder(&dist.join(format!("skep-{version}-x86_64-linux")), &COMMANDS.map(|(_, executable)| executable))?;
    let example = folder(&dist.join(format!("{EXAMPLE}-{version}-x86_64-linux")), &[EXAMPLE])?;
    let mut made: Vec<PathBuf> = COMMANDS.iter().map(|(_, name)| skep.join(name)).collect();
    made.extend([archive(&skep)?, example.join(EXAMPLE), archive(&example)?]);
    made.push(image::write(&dist, EXAMPLE, version, &executable(EXAMPLE), Path::new(AUTHORITIES))?);
    for file in made {
        let kib = file.metadata().map_err(|error| format!("{}: {error}", file.display()))?.len().div_ceil(1024);
        println!("{kib:>8} KiB  {}", file.strip_prefix(&dist).unwrap_or(&file).display());
    }
    Ok(())
}

/// Without symbols, which are most of an executable; nothing else differs from the release profile.
fn build() -> Result<(), String> {
    let mut cargo = command::program("cargo");
    cargo.args(["build", "--release", "--locked", "--target", MUSL, "--config", "profile.release.strip='symbols'"]);
    cargo.args(["--features", FEATURES]);
    for package in COMMANDS.iter().map(|(package, _)| *package).chain([EXAMPLE]) {
        cargo.args(["-p", package]);
    }
    let status = cargo.status().map_err(|error| format!("cargo does not start: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("cargo build failed: {status}")) }
}

fn executable(name: &str) -> PathBuf {
    command::root().join("target").join(MUSL).join("release").join(name)
}

/// A folder with executables, the licences and what has changed.
fn folder(folder: &Path, executables: &[&str]) -> Result<PathBuf, String> {
    let wrong = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(wrong)?;
    for name in executables {
        is_static(&executable(name))?;
        fs::copy(executable(name), folder.join(name)).map_err(wrong)?;
    }
    for name in ["LICENSE-MIT", "LICENSE-APACHE", "CHANGELOG.md", "UPGRADING.md"] {
        fs::copy(command::root().join(name), folder.join(name)).map_err(wrong)?;
    }
    Ok(folder.to_owned())
}

/// An executable that names a loader needs the C library of that name.
fn is_static(file: &Path) -> Result<(), String> {
    let headers = command::output("readelf", &["--program-headers", &file.to_string_lossy()])?;
    if headers.contains("INTERP") { Err(format!("{} is not static", file.display())) } else { Ok(()) }
}

/// `FOLDER.tar.gz`, of which every build makes the same bytes if the files are the same.
fn archive(folder: &Path) -> Result<PathBuf, String> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = folder.with_file_name(format!("{name}.tar.gz"));
    pack(folder.parent().unwrap_or(folder), &name, &file, &["--gzip", "--owner=0", "--group=0"])?;
    Ok(file)
}

/// Packs what is of this name in the folder.
fn pack(folder: &Path, name: &str, file: &Path, flags: &[&str]) -> Result<(), String> {
    let (folder, file) = (folder.to_string_lossy(), file.to_string_lossy());
    let mut args = if flags.contains(&"--append") { vec![] } else { vec!["--create"] };
    args.extend(["--sort=name", "--mtime=@0", "--numeric-owner"]);
    args.extend(flags);
    args.extend(["--file", &file, "--directory", &folder, name]);
    command::output("tar", &args).map(drop)
}
