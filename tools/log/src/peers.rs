//! Loggers of other languages, which write the same line: spdlog, quill and Log4perl.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;

/// A program that prints figures, and takes a folder as its last argument.
pub(crate) struct Program {
    command: PathBuf,
    arguments: Vec<PathBuf>,
}

impl Program {
    pub(crate) fn new(command: PathBuf, arguments: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self { command, arguments: arguments.into_iter().map(Into::into).collect() }
    }

    /// What it prints, with this folder for its files.
    pub(crate) fn run(&self, folder: &Path) -> Result<String> {
        let output = Command::new(&self.command).args(&self.arguments).arg(folder).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }
}

/// Those that this machine has; a line on standard error names each that it has not. `folder` is for what is compiled.
pub(crate) fn find(folder: &Path) -> Vec<Program> {
    let told = |(name, from, found): (&str, &str, Result<Program>)| {
        found.inspect_err(|error| eprintln!("without {name} ({from}): {error}")).ok()
    };
    let all = [
        ("spdlog", "Debian: libspdlog-dev", spdlog(folder)),
        ("quill", "QUILL_INCLUDE: the folder include of github.com/odygrd/quill", quill(folder)),
        ("Log4perl", "Debian: liblog-log4perl-perl", log4perl()),
    ];
    all.into_iter().filter_map(told).collect()
}

fn spdlog(folder: &Path) -> Result<Program> {
    let flags = said(Command::new("pkg-config").args(["--cflags", "--libs", "spdlog"]))?;
    compiled(folder.join("spdlog-bench"), "spdlog/log.cpp", flags.split_whitespace().map(ToOwned::to_owned))
}

/// It is headers only. Debian 12 has no package of it.
fn quill(folder: &Path) -> Result<Program> {
    let headers = std::env::var("QUILL_INCLUDE").map_err(|_| "QUILL_INCLUDE is not set")?;
    compiled(folder.join("quill-bench"), "quill/log.cpp", [format!("-I{headers}")])
}

fn compiled(program: PathBuf, from: &str, flags: impl IntoIterator<Item = String>) -> Result<Program> {
    let mut compiler = Command::new("c++");
    compiler.args(["-O3", "-DNDEBUG", "-std=c++17", "-pthread", "-o"]).arg(&program).arg(source(from)).args(flags);
    said(&mut compiler)?;
    Ok(Program::new(program, [""; 0]))
}

fn log4perl() -> Result<Program> {
    said(Command::new("perl").args(["-MLog::Log4perl", "-e", "1"]))?;
    Ok(Program::new("perl".into(), [source("log4perl/line.pl")]))
}

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers").join(path)
}

/// What a command prints, if it succeeds.
fn said(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(String::from_utf8(output.stdout)?);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(text.lines().next().unwrap_or("it fails").to_owned().into())
}
