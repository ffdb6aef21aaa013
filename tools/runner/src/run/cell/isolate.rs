//! What instances hold, and how fast a new version takes the place of the old one.

use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::{Cell, Entrant, SETTLE, Sample};
use crate::Result;
use crate::experiment::New;
use crate::load::{self, SWAPS};
use crate::measure::Measure;
use crate::need::Guest;
use crate::program::{Program, Served};
use crate::server::Server;
use crate::site;

/// How long a swap may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// CPU us that a server which does nothing takes while others [`SETTLE`]: 15 of its threads wake in that time, to look
/// at files and clocks.
const IDLE: f64 = 20_000.0;

/// Between two looks for the new version.
const PAUSE: Duration = Duration::from_millis(1);

/// Requests before those that are held: what a process takes for its first ones for good is not theirs. Of more, a pool
/// would keep the pages, and those that are held would find them.
const FEW: u16 = 4;

/// Requests whose bodies do not come, and by how much the server grows with each.
pub(super) fn held(cell: &Cell<'_>, entrant: &Entrant, requests: u16) -> Result<Sample> {
    let server = cell.start(entrant)?;
    let path = entrant.variant.path;
    drop(hold(server.port, path, FEW)?);
    let before = memory(&server)?;
    let connections = hold(server.port, path, requests)?;
    let held = memory(&server)?;
    drop(connections);
    Ok(Sample::from([(Measure::InFlight, (held - before) * 1000.0 / f64::from(requests)), (Measure::Memory, held)]))
}

/// Opens connections, and begins a request on each.
fn hold(port: u16, path: &str, requests: u16) -> Result<Vec<TcpStream>> {
    let mut connections = Vec::new();
    for _ in 0..requests {
        let mut connection = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        write!(
            connection,
            "POST {path} HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost\r\ncontent-length: 100\r\n\r\nbegun"
        )?;
        connections.push(connection);
    }
    Ok(connections)
}

fn memory(server: &Server) -> Result<f64> {
    thread::sleep(SETTLE);
    Ok(server.watched().sizes()?.values().sum())
}

/// Replaces the component's file, each time with another text in it, and asks until the answer has it.
pub(super) fn swaps(cell: &Cell<'_>, entrant: &Entrant, kind: New) -> Result<Sample> {
    let Program::SkepServe(Served { guest, .. }) = entrant.variant.program else {
        return Err(format!("{} has no component to swap", entrant.name).into());
    };
    let server = cell.start(entrant)?;
    let file = cell.site.folder(&super::label(cell.experiment, entrant)).join(guest.file());
    let component = fs::read(&file)?;
    let mut times = Vec::new();
    for number in 0..SWAPS {
        // What the server compiles it has never seen before: what is compiled is kept by its content.
        let text = marked(guest.text(), number, if kind == New::Compiled { 0 } else { nanos() });
        let mut new = replaced(&component, guest.text().as_bytes(), text.as_bytes());
        if new == component {
            return Err(format!("{:?} does not stand in {}", guest.text(), file.display()).into());
        }
        if kind == New::Code {
            new.extend(section(&text));
        }
        let beside = file.with_extension("new");
        if kind == New::Compiled {
            let made = cell.site.folder("swaps").join(guest.file()).with_extension(format!("{number}.cwasm"));
            fs::copy(made_once(made, &new, &entrant.variant.program.executable(), guest)?, &beside)?;
        } else {
            fs::write(&beside, new)?;
        }
        settle(&server)?;
        let begun = Instant::now();
        fs::rename(&beside, &file)?;
        while !has(&load::ask(server.port, entrant.variant.path)?.body, text.as_bytes()) {
            if begun.elapsed() > PATIENCE {
                return Err(format!("{}: no new answer in {PATIENCE:?}", entrant.name).into());
            }
            thread::sleep(PAUSE);
        }
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_unstable_by(f64::total_cmp);
    Ok(Sample::from([(Measure::Swap, times[SWAPS / 2]), (Measure::SlowestSwap, times[SWAPS - 1])]))
}

/// Waits until the server does nothing: the version before is optimised while it serves, and a swap is not to be
/// measured beside that.
fn settle(server: &Server) -> Result<()> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let before = server.watched().usage()?;
        thread::sleep(SETTLE);
        if server.watched().usage()?.since(&before).cpu_us < IDLE {
            return Ok(());
        }
    }
    Err(format!("the server was at work for {PATIENCE:?}").into())
}

/// What `skep compile` makes of a component; it is there in the next round.
fn made_once(made: PathBuf, component: &[u8], skep: &Path, guest: Guest) -> Result<PathBuf> {
    if !made.exists() {
        fs::create_dir_all(made.parent().unwrap_or(&made))?;
        let source = made.with_extension("wasm");
        fs::write(&source, component)?;
        let mut compile = Command::new(skep);
        compile.arg("compile").arg(&source).arg("-o").arg(&made);
        if guest == Guest::Blog {
            // Start-up code reads the articles. Their rows it writes once more where the server has its database.
            let files = made.with_extension("files");
            site::write_articles(&files)?;
            compile.arg("--dir").arg(format!("{}::/data", files.display()));
        }
        let output = compile.stdin(Stdio::null()).output()?;
        if !output.status.success() {
            return Err(format!("skep compile: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
    }
    Ok(made)
}

fn nanos() -> u32 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.subsec_nanos())
}

/// A section of its own with this text as its name (WebAssembly, "Custom Section"): no file with another one has the
/// same code.
fn section(name: &str) -> Vec<u8> {
    let name = &name.as_bytes()[..name.len().min(100)];
    let length = u8::try_from(name.len()).unwrap_or(0);
    [&[0, length + 1, length][..], name].concat()
}

/// The text with a mark in it, of the same length.
fn marked(text: &str, number: usize, nanos: u32) -> String {
    let mark = format!("{number}{nanos:09}");
    text.chars().take(text.len() - mark.len()).chain(mark.chars()).collect()
}

fn replaced(bytes: &[u8], text: &[u8], by: &[u8]) -> Vec<u8> {
    let mut new = bytes.to_vec();
    let places = (0..bytes.len().saturating_sub(text.len())).filter(|&place| bytes[place..].starts_with(text));
    for place in places {
        new[place..place + by.len()].copy_from_slice(by);
    }
    new
}

fn has(body: &[u8], text: &[u8]) -> bool {
    body.windows(text.len()).any(|window| window == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_replaced_wherever_it_stands_by_one_of_its_length() {
        assert_eq!(replaced(b"-abc-abc-", b"abc", b"xyz"), b"-xyz-xyz-");
        assert_eq!(marked("Hello, world!", 3, 12), "Hel3000000012");
    }
}
