//! Words to a Skep server over its control socket.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// How long a word may take. A swap starts another version, which may take its time.
const PATIENCE: Duration = Duration::from_mins(2);

/// Says a word to the server that listens on this control socket, and gives back its answer.
///
/// ```no_run
/// let status = skep_bench::server::ask("/var/lib/blog/control".as_ref(), "status")?;
/// # Ok::<(), String>(())
/// ```
pub fn ask(socket: &Path, word: &str) -> Result<String, String> {
    let wrong = |error: std::io::Error| format!("no Skep server answers on {}: {error}", socket.display());
    let mut stream = UnixStream::connect(socket).map_err(wrong)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(wrong)?;
    stream.write_all(format!("{word}\n").as_bytes()).map_err(wrong)?;
    stream.shutdown(Shutdown::Write).map_err(wrong)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(wrong)?;
    Ok(answer)
}

/// The process id of the supervisor behind this control socket. See [`ask`].
pub fn supervisor(socket: &Path) -> Result<u32, String> {
    let status = ask(socket, "status json")?;
    let status: serde_json::Value = serde_json::from_str(&status)
        .map_err(|error| format!("what answers on {} is no Skep server: {error}", socket.display()))?;
    let process = status.get("process").and_then(serde_json::Value::as_u64);
    let process = process.and_then(|process| u32::try_from(process).ok());
    process.ok_or_else(|| format!("the status of the server on {} names no process", socket.display()))
}
