//! What a server holds for connections that do nothing.

use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::thread;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{Cell, Entrant, SETTLE, Sample};
use crate::Result;
use crate::load;
use crate::measure::Measure;
use crate::server::Server;

/// How long a server may take for a response.
const PATIENCE: Duration = Duration::from_secs(5);

/// Descriptors besides those of connections.
const OTHERS: u64 = 100;

/// Under this load before, the server touches the code and the pages that it needs whether connections wait or not.
const WARM_UP: Duration = Duration::from_millis(300);

/// One response on each connection, then silence: what the server has grown by.
pub(super) fn memory(cell: &Cell<'_>, entrant: &Entrant, connections: u16) -> Result<Sample> {
    allow(u64::from(connections) + OTHERS)?;
    let server = cell.start(entrant)?;
    load::run(crate::experiment::Load::KeepAlive { connections: 32 }, server.port, entrant.variant.path, WARM_UP)?;
    let before = settled(&server)?;
    let open = open(server.port, entrant.variant.path, connections)?;
    let after = settled(&server)?;
    drop(open);
    let each = (after - before) * 1e6 / 1024.0 / f64::from(connections);
    Ok(Sample::from([(Measure::PerConnection, each), (Measure::Memory, after)]))
}

/// Lets this process, and the servers that it starts from now on, have this number of open files.
fn allow(files: u64) -> Result<()> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| current >= files) {
        return Ok(());
    }
    if maximum.is_some_and(|maximum| maximum < files) {
        return Err(format!("{files} open files are needed, and the limit is {maximum:?} (ulimit -Hn)").into());
    }
    Ok(setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?)
}

fn open(port: u16, path: &str, connections: u16) -> Result<Vec<TcpStream>> {
    let request = skep_client::get(path, &format!("127.0.0.1:{port}"), false);
    let one = |_| -> io::Result<TcpStream> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let response = skep_client::exchange(&mut stream, &request, false, PATIENCE)?;
        let is_kept = response.status == 200 && response.keeps;
        if is_kept { Ok(stream) } else { Err(io::Error::other(format!("status {}, and it closes", response.status))) }
    };
    let open: Vec<TcpStream> = (0..connections).map(one).collect::<io::Result<_>>()?;
    // A server that closes the first while the last ones come has fewer of them than is said.
    for stream in &open {
        stream.set_nonblocking(true)?;
        if !matches!(stream.peek(&mut [0]), Err(error) if error.kind() == io::ErrorKind::WouldBlock) {
            return Err("the server has closed a connection that was idle".into());
        }
    }
    Ok(open)
}

fn settled(server: &Server) -> Result<f64> {
    thread::sleep(SETTLE);
    Ok(server.watched().sizes()?.values().sum())
}
