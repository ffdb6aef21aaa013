//! Where it all happens: a folder that is removed at the end, and the servers in it.

use std::fs;
use std::io::Read;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;

use crate::Result;
use crate::peer::Start;

/// Two folders, one of them in memory, and what was started for them. All of it ends with this value.
pub(crate) struct Site {
    // In this order: servers end before their folders go.
    servers: Vec<Server>,
    _folders: [TempDir; 2],
    /// What the peers need to know of it.
    pub(crate) start: Start,
}

impl Site {
    /// Starts memcached (a socket, and a port of loopback) and Redis (a socket), and writes down the keys.
    pub(crate) fn lay_out(keys: usize, room: u64) -> Result<Self> {
        let folder = |within: &Path| tempfile::Builder::new().prefix("cache-bench").tempdir_in(within);
        let memory = Path::new("/dev/shm");
        let disk = std::env::temp_dir();
        let folders = [folder(&disk)?, folder(if memory.is_dir() { memory } else { &disk })?];
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let start = Start::new(
            folders.each_ref().map(|folder| folder.path().to_owned()),
            format!("127.0.0.1:{port}"),
            keys,
            room,
        );
        fs::write(start.keys_file(), start.keys.lines())?;
        let mut site = Self { servers: Vec::new(), _folders: folders, start };
        site.memcached(port)?;
        site.redis()?;
        Ok(site)
    }

    /// It listens on a socket or on a port, so there are two.
    fn memcached(&mut self, port: u16) -> Result<()> {
        let memory = ["-u", "root", "-m", "256", "-U", "0"];
        let (socket, address) = (self.start.memcached(), self.start.memcached_tcp.clone());
        let mut by_socket = Command::new("memcached");
        by_socket.args(memory).arg("-s").arg(&socket);
        self.server("memcached", &by_socket, || UnixStream::connect(&socket).is_ok())?;
        let mut by_port = Command::new("memcached");
        by_port.args(memory).args(["-l", "127.0.0.1", "-p", &port.to_string()]);
        self.server("memcached", &by_port, || TcpStream::connect(&address).is_ok())
    }

    /// It keeps nothing on disk.
    fn redis(&mut self) -> Result<()> {
        let socket = self.start.redis();
        let mut server = Command::new("redis-server");
        server.args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"]).arg(&socket);
        server.arg("--dir").arg(&self.start.folder);
        self.server("redis-server", &server, || UnixStream::connect(&socket).is_ok())
    }

    fn server(&mut self, name: &str, command: &Command, is_up: impl Fn() -> bool) -> Result<()> {
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
                self.servers.push(server);
                return Ok(());
            }
            sleep(Duration::from_millis(25));
        }
        Err(format!("{name} takes no connection after 5 s").into())
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
