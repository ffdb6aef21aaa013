//! Where it all happens: a folder that is removed at the end, and the servers in it.

use std::fs;
use std::io::Read;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;

use crate::Result;
use crate::load::Keys;

/// A folder, and what was started for it. All of it ends with this value.
pub(crate) struct Site {
    // In this order: servers end before their folder goes.
    _servers: Vec<Server>,
    folder: TempDir,
    pub(crate) memcached_tcp: String,
}

impl Site {
    /// Starts memcached (a socket, and a port of loopback) and Redis (a socket).
    pub(crate) fn lay_out(keys: &Keys) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("cache-bench").tempdir()?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let mut site = Self { _servers: Vec::new(), folder, memcached_tcp: format!("127.0.0.1:{port}") };
        fs::write(site.keys(), keys.lines())?;
        let (one, two, redis) = (site.memcached(), site.path("redis.sock"), site.path("redis"));
        fs::create_dir(&redis)?;
        let memory = ["-u", "root", "-m", "256", "-U", "0"];
        site.start("memcached", Command::new("memcached").args(memory).arg("-s").arg(&one), || {
            UnixStream::connect(&one).is_ok()
        })?;
        let tcp = Command::new("memcached");
        let address = site.memcached_tcp.clone();
        let port = port.to_string();
        site.start("memcached", { tcp }.args(memory).args(["-l", "127.0.0.1", "-p", &port]), || {
            TcpStream::connect(&address).is_ok()
        })?;
        let mut server = Command::new("redis-server");
        server.args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"]).arg(&two);
        server.arg("--dir").arg(&redis);
        site.start("redis-server", &mut server, || UnixStream::connect(&two).is_ok())?;
        Ok(site)
    }

    fn start(&mut self, name: &str, command: &mut Command, is_up: impl Fn() -> bool) -> Result<()> {
        let child = child(command).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let child = child.map_err(|error| format!("{name} does not start: {error}"))?;
        let mut server = Server(child);
        for _ in 0..200 {
            if let Some(status) = server.0.try_wait()? {
                let mut said = String::new();
                server.0.stderr.take().map(|mut stderr| stderr.read_to_string(&mut said)).transpose()?;
                return Err(format!("{name} ended at once ({status}): {}", said.trim()).into());
            }
            if is_up() {
                self._servers.push(server);
                return Ok(());
            }
            sleep(Duration::from_millis(25));
        }
        Err(format!("{name} takes no connection after 5 s").into())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// memcached's socket.
    pub(crate) fn memcached(&self) -> PathBuf {
        self.path("memcached.sock")
    }

    /// Redis' socket.
    pub(crate) fn redis(&self) -> PathBuf {
        self.path("redis.sock")
    }

    /// The file with the keys.
    pub(crate) fn keys(&self) -> PathBuf {
        self.path("keys")
    }
}

/// The command, started so that it ends with us, however we end.
pub(crate) fn child(command: &Command) -> Command {
    let mut with = Command::new("setpriv");
    with.args(["--pdeathsig", "KILL", "--"]).arg(command.get_program()).args(command.get_args());
    with
}

/// A child process, by its id.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // One that ended by itself cannot be killed, and need not be.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
