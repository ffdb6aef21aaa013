//! One run of `cargo build`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

use crate::package::{Package, cargo, no_cargo};
use crate::state::News;

/// Removes the line of progress, which other lines would run into.
pub(crate) const CLEAR: &str = "\r\u{1b}[K";

/// What came of it.
#[derive(Debug)]
pub(crate) enum Outcome {
    Built(Built),
    Failed(Failure),
}

/// An executable.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) executable: PathBuf,
    /// Nothing had changed.
    pub(crate) is_fresh: bool,
    /// It reads assets from the disk.
    pub(crate) reads_assets: bool,
}

/// What the compiler, or cargo itself, says against it.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    pub(crate) errors: usize,
    /// For a terminal.
    pub(crate) text: String,
}

/// Children and grandchildren of a command, ended when it is dropped. Each command has a process group of its own.
#[derive(Debug)]
pub(crate) struct Group(pub(crate) Pid);

impl Group {
    pub(crate) fn of(child: &Child) -> Option<Self> {
        child.id().and_then(|id| Pid::from_raw(id.cast_signed())).map(Self)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.0, signal);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::TERM);
    }
}

/// Builds. The compiler ends when the future is dropped.
pub(crate) async fn build(package: &Package, news: &News) -> Result<Outcome, String> {
    let is_terminal = std::io::stderr().is_terminal();
    let mut command: Command = cargo().into();
    command.args(["build", "--message-format=json-diagnostic-rendered-ansi", "--manifest-path"]);
    command.arg(&package.manifest).args(["--bin", &package.bin]);
    command.env("CARGO_TERM_PROGRESS_WHEN", "always").env("CARGO_TERM_PROGRESS_WIDTH", "100");
    command.env("CARGO_TERM_COLOR", if is_terminal { "always" } else { "never" });
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| no_cargo(&error))?;
    let group = Group::of(&child);
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err("cargo has no output".to_owned());
    };
    let messages = messages(stdout, package, is_terminal);
    let (read, said) = tokio::join!(messages, progress(stderr, news, is_terminal));
    let status = child.wait().await.map_err(|error| format!("cargo: {error}"))?;
    // It has ended, and its number may be another's soon.
    std::mem::forget(group);
    match read {
        (Some(built), _) if status.success() => Ok(Outcome::Built(built)),
        (_, failure) if failure.errors > 0 => Ok(Outcome::Failed(failure)),
        _ => Ok(Outcome::Failed(Failure { errors: 0, text: said })),
    }
}

/// Reads what cargo says of artifacts, and what the compiler says.
async fn messages(stdout: impl AsyncRead + Unpin, package: &Package, is_terminal: bool) -> (Option<Built>, Failure) {
    let mut lines = BufReader::new(stdout).lines();
    let (mut built, mut failure) = (None, Failure::default());
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        match message["reason"].as_str() {
            Some("compiler-message") => {
                let rendered = message["message"]["rendered"].as_str().unwrap_or_default();
                let shown = if is_terminal { format!("{CLEAR}{rendered}") } else { plain(rendered) };
                show(shown.as_bytes()).await;
                failure.add(&message["message"]["level"], rendered);
            }
            Some("compiler-artifact") if message["target"]["name"] == *package.bin => {
                built = Built::of(&message).or(built);
            }
            _ => {}
        }
    }
    (built, failure)
}

impl Failure {
    fn add(&mut self, level: &Value, rendered: &str) {
        if level.as_str().is_none_or(|level| !level.starts_with("error")) {
            return;
        }
        // "aborting due to 2 previous errors" has no place, and says nothing new.
        if !rendered.contains("aborting due to") {
            self.errors += 1;
            self.text += rendered;
        }
    }
}

impl Built {
    fn of(message: &Value) -> Option<Self> {
        Some(Self {
            executable: Path::new(message["executable"].as_str()?).to_owned(),
            is_fresh: message["fresh"] == true,
            reads_assets: message["profile"]["debug_assertions"] == true,
        })
    }
}

/// Passes on what cargo prints, and tells what it is at. Returns the lines that are no progress.
async fn progress(mut stderr: impl AsyncRead + Unpin, news: &News, is_terminal: bool) -> String {
    let (mut bytes, mut text) = (Vec::new(), String::new());
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        if is_terminal {
            show(&buffer[..count]).await;
        }
        bytes.extend_from_slice(&buffer[..count]);
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let line: Vec<u8> = bytes.drain(..=end).collect();
            let line = plain(&String::from_utf8_lossy(&line));
            let line = line.trim_end();
            match step(line.trim_start()) {
                _ if line.is_empty() => {}
                Some(step) => news.progressed(step),
                None => {
                    if !is_terminal {
                        show(format!("{line}\n").as_bytes()).await;
                    }
                    // "Compiling", "Blocking waiting for file lock": also what it is at.
                    news.progressed(line.trim_start().to_owned());
                    text += line;
                    text.push('\n');
                }
            }
        }
    }
    text
}

/// `Building [====>   ] 120/240: skep, skep-sql` is `120 of 240: skep, skep-sql`.
fn step(line: &str) -> Option<String> {
    let (_, rest) = line.strip_prefix("Building [")?.split_once("] ")?;
    let (done, names) = rest.split_once(": ").unwrap_or((rest, ""));
    let (done, all) = done.split_once('/')?;
    Some(if names.is_empty() { format!("{done} of {all}") } else { format!("{done} of {all}: {names}") })
}

/// Without sequences for a terminal.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut pieces = text.split('\u{1b}');
    plain.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let end = piece.find(|letter: char| letter.is_ascii_alphabetic()).map_or(piece.len(), |at| at + 1);
        plain.push_str(&piece[end..]);
    }
    plain
}

pub(crate) async fn show(bytes: &[u8]) {
    let mut stderr = tokio::io::stderr();
    let _ = stderr.write_all(bytes).await;
    let _ = stderr.flush().await;
}

#[cfg(test)]
#[path = "../tests/unit/build.rs"]
mod tests;
