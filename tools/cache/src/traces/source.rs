//! The traces: where they come from, and how they are read.
//!
//! They lie in the jar of Caffeine's simulator, which Maven brings; nothing of it is copied into this repository. The
//! formats are those of the simulator's own readers: numbers in text or in big-endian binary.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;

/// Apache-2.0; the traces of cache2k in it are CC BY 4.0, by headissue `GmbH`, Jens Wilke.
pub(crate) const ARTIFACT: &str = "com.github.ben-manes.caffeine:simulator:3.2.2";

const FOLDER: &str = "com/github/benmanes/caffeine/cache/simulator/parser";

/// How the accesses of a trace are written down.
#[derive(Debug, Clone, Copy)]
enum Format {
    /// A number a line; `*` is a breakpoint of the simulator of LIRS and no access.
    Lines,
    /// 128 bits in hexadecimal a line.
    Hashes,
    /// Numbers of a fixed width in bytes, one after the other.
    Binary(usize),
    /// `time id bytes` a line: the only one with sizes.
    Sized,
}

/// One public trace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trace {
    pub(crate) name: &'static str,
    /// Completes "accesses of ".
    pub(crate) about: &'static str,
    path: &'static str,
    format: Format,
}

const fn trace(name: &'static str, about: &'static str, path: &'static str, format: Format) -> Trace {
    Trace { name, about, path, format }
}

/// Of different kinds: what suits recency, what suits frequency, what suits neither.
pub(crate) const TRACES: [Trace; 11] = [
    trace("sprite", "a file server of the Sprite network", "lirs/sprite.trace.gz", Format::Lines),
    trace("multi3", "four programs at once: cpp, gnuplot, glimpse, postgres", "lirs/multi3.trace.gz", Format::Lines),
    trace("2-pools", "index and records of a database", "lirs/2_pools.trace.gz", Format::Lines),
    trace("web07", "the product pages of a shop, in July", "cache2k/web07.trace.xz", Format::Binary(4)),
    trace("web12", "the product pages of a shop, in December", "cache2k/web12.trace.xz", Format::Binary(4)),
    trace("orm-busy", "the objects of a shop's database, by day", "cache2k/orm-busy.trace.xz", Format::Binary(4)),
    trace("gradle", "the build cache of a team", "gradle/build-cache.xz", Format::Hashes),
    trace("scarab", "the recommendations of web shops", "scarab/scarab-recs.trace.xz", Format::Binary(8)),
    trace("w106", "the disk of a virtual machine", "cloud_physics/w106.trace.xz", Format::Binary(4)),
    trace("corda", "the vault of a ledger: mostly scans", "corda/trace_vaultservice.gz", Format::Binary(8)),
    trace("cdn", "objects of a content delivery network, with sizes", "adapt_size/request.trace.xz", Format::Sized),
];

/// One access: which entry, and what it weighs (1, or bytes where the trace has sizes).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Access {
    pub(crate) key: u32,
    pub(crate) weight: u32,
}

/// A trace in memory. Keys are numbered in the order in which they come.
#[derive(Debug)]
pub(crate) struct Accesses {
    pub(crate) list: Vec<Access>,
    /// How many keys there are.
    pub(crate) keys: usize,
    /// What all keys weigh together, each once.
    pub(crate) weight: u64,
    pub(crate) has_sizes: bool,
}

/// The jar: the one named, or the one that Maven copies into `target/traces`.
pub(crate) fn jar(named: Option<&Path>) -> Result<PathBuf> {
    if let Some(path) = named {
        return path.is_file().then(|| path.to_owned()).ok_or(format!("{} is not a file", path.display()).into());
    }
    let folder = crate::folder().join("target/traces");
    let jar = folder.join("simulator-3.2.2.jar");
    if !jar.is_file() {
        eprintln!("traces: fetching {ARTIFACT} (96 MB) by Maven");
        let output = format!("-DoutputDirectory={}", folder.display());
        run(Command::new("mvn").args(["-q", "dependency:copy", &format!("-Dartifact={ARTIFACT}"), &output]))?;
    }
    Ok(jar)
}

impl Trace {
    /// Unpacks and reads it: the first `limit` accesses.
    pub(crate) fn read(&self, jar: &Path, limit: usize) -> Result<Accesses> {
        let packed = run(Command::new("unzip").arg("-p").arg(jar).arg(format!("{FOLDER}/{}", self.path)))?;
        let file = crate::folder().join("target/traces").join(self.path.replace('/', "-"));
        fs::create_dir_all(file.parent().expect("it is in a folder"))?;
        fs::write(&file, packed)?;
        let unpack =
            if Path::new(self.path).extension().is_some_and(|extension| extension == "xz") { "xz" } else { "gzip" };
        let bytes = run(Command::new(unpack).arg("-dc").arg(&file))?;
        fs::remove_file(&file)?;
        let accesses = parse(self.format, &bytes, limit);
        if accesses.list.is_empty() {
            return Err(format!("no access was read from {}: is {} complete?", self.path, jar.display()).into());
        }
        Ok(accesses)
    }
}

/// What a program prints, or what it complained of.
fn run(command: &mut Command) -> Result<Vec<u8>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output =
        output.map_err(|error| format!("{name} does not start: {error}; `--install` installs what is missing"))?;
    if output.status.success() { Ok(output.stdout) } else { Err(format!("{name} failed: {}", output.status).into()) }
}

fn parse(format: Format, bytes: &[u8], limit: usize) -> Accesses {
    match format {
        Format::Binary(width) => numbered(bytes.chunks_exact(width).map(|chunk| (chunk, 1)), limit, false),
        Format::Lines => numbered(lines(bytes).filter(|line| line != b"*").map(|line| (line, 1)), limit, false),
        Format::Hashes => numbered(lines(bytes).map(|line| (line, 1)), limit, false),
        Format::Sized => numbered(lines(bytes).filter_map(sized), limit, true),
    }
}

/// Those that are not empty, without what surrounds them.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
}

/// As in the simulator, an object of another size is another object.
fn sized(line: &[u8]) -> Option<(&[u8], u32)> {
    let id = line.iter().position(|&byte| byte == b' ')? + 1;
    let size = line.iter().rposition(|&byte| byte == b' ')? + 1;
    let bytes: u32 = std::str::from_utf8(&line[size..]).ok()?.parse().ok()?;
    Some((&line[id..], bytes.max(1)))
}

fn numbered<'a>(accesses: impl Iterator<Item = (&'a [u8], u32)>, limit: usize, has_sizes: bool) -> Accesses {
    let mut numbers = HashMap::new();
    let mut read = Accesses { list: Vec::new(), keys: 0, weight: 0, has_sizes };
    for (key, weight) in accesses.take(limit) {
        let next = u32::try_from(numbers.len()).expect("no trace here has as many keys");
        let key = *numbers.entry(key).or_insert_with(|| {
            read.weight += u64::from(weight);
            next
        });
        read.list.push(Access { key, weight });
    }
    read.keys = numbers.len();
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(format: Format, bytes: &[u8]) -> Vec<u32> {
        parse(format, bytes, usize::MAX).list.iter().map(|access| access.key).collect()
    }

    #[test]
    fn a_breakpoint_is_no_access_and_a_line_may_end_either_way() {
        assert_eq!(keys(Format::Lines, b"17\r\n4\n*\n17\n\n"), [0, 1, 0]);
    }

    #[test]
    fn binary_numbers_follow_each_other() {
        assert_eq!(keys(Format::Binary(4), &[0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1]), [0, 1, 0]);
        assert_eq!(keys(Format::Binary(8), &[0, 0, 0, 1, 0, 0, 0, 2, 0, 0]), [0]);
    }

    #[test]
    fn an_object_of_another_size_is_another() {
        let read = parse(Format::Sized, b"1 0 68\n2 1 7454\n3 0 68\n4 0 70\n", usize::MAX);
        assert_eq!(
            read.list.iter().map(|access| (access.key, access.weight)).collect::<Vec<_>>(),
            [(0, 68), (1, 7454), (0, 68), (2, 70)]
        );
        assert_eq!((read.keys, read.weight), (3, 68 + 7454 + 70));
    }

    #[test]
    fn no_more_is_read_than_was_asked_for() {
        assert_eq!(parse(Format::Lines, b"1\n2\n3\n", 2).list.len(), 2);
    }
}
