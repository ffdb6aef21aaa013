//! memcached and Redis, through Rust's clients and through nothing: one connection, one request at a time.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use async_memcached::AsciiProtocol;
use fred::interfaces::{ClientLike, KeysInterface};
use redis::{AsyncCommands, Commands};

use super::{Peer, Start, here, runtime, within};
use crate::Result;
use crate::load::{Cache, seen};

struct Memcache(memcache::Client);

pub(super) fn memcache_unix(start: &Start) -> Result<Box<dyn Peer>> {
    memcache(start, &format!("memcache://{}", start.memcached().display()))
}

pub(super) fn memcache_ascii(start: &Start) -> Result<Box<dyn Peer>> {
    memcache(start, &format!("memcache://{}?protocol=ascii", start.memcached().display()))
}

pub(super) fn memcache_tcp(start: &Start) -> Result<Box<dyn Peer>> {
    memcache(start, &format!("memcache://{}?tcp_nodelay=true", start.memcached_tcp))
}

fn memcache(start: &Start, url: &str) -> Result<Box<dyn Peer>> {
    here(start, Memcache(memcache::Client::connect(url)?))
}

impl Cache for Memcache {
    async fn set(&mut self, key: &str, value: &[u8]) -> Result<()> {
        Ok(self.0.set(key, value, 0)?)
    }

    async fn get(&mut self, key: &str) -> Result<Option<usize>> {
        Ok(self.0.get::<Vec<u8>>(key)?.map(|value| seen(&value)))
    }
}

struct AsyncMemcached(async_memcached::Client);

pub(super) fn async_memcached(start: &Start) -> Result<Box<dyn Peer>> {
    let runtime = runtime()?;
    let address = format!("unix://{}", start.memcached().display());
    let client = runtime.block_on(async_memcached::Client::new(address))?;
    Ok(within(start, runtime, AsyncMemcached(client)))
}

impl Cache for AsyncMemcached {
    async fn set(&mut self, key: &str, value: &[u8]) -> Result<()> {
        Ok(self.0.set(key, value, None, None).await?)
    }

    async fn get(&mut self, key: &str) -> Result<Option<usize>> {
        let found = self.0.get(key).await?;
        Ok(found.and_then(|found| found.data).map(|value| seen(&value)))
    }
}

struct Redis(redis::Connection);

pub(super) fn redis_sync(start: &Start) -> Result<Box<dyn Peer>> {
    here(start, Redis(redis_client(&start.redis())?.get_connection()?))
}

fn redis_client(socket: &Path) -> Result<redis::Client> {
    Ok(redis::Client::open(format!("unix://{}", socket.display()))?)
}

impl Cache for Redis {
    async fn set(&mut self, key: &str, value: &[u8]) -> Result<()> {
        Ok(self.0.set(key, value)?)
    }

    async fn get(&mut self, key: &str) -> Result<Option<usize>> {
        let value: Option<Vec<u8>> = self.0.get(key)?;
        Ok(value.map(|value| seen(&value)))
    }
}

struct RedisAsync(redis::aio::MultiplexedConnection);

pub(super) fn redis_async(start: &Start) -> Result<Box<dyn Peer>> {
    let runtime = runtime()?;
    let client = redis_client(&start.redis())?;
    let connection = runtime.block_on(client.get_multiplexed_async_connection())?;
    Ok(within(start, runtime, RedisAsync(connection)))
}

impl Cache for RedisAsync {
    async fn set(&mut self, key: &str, value: &[u8]) -> Result<()> {
        Ok(self.0.set(key, value).await?)
    }

    async fn get(&mut self, key: &str) -> Result<Option<usize>> {
        let value: Option<Vec<u8>> = self.0.get(key).await?;
        Ok(value.map(|value| seen(&value)))
    }
}

struct Fred(fred::clients::Client);

pub(super) fn fred(start: &Start) -> Result<Box<dyn Peer>> {
    let runtime = runtime()?;
    let config = fred::types::config::Config::from_url(&format!("redis+unix://{}", start.redis().display()))?;
    let client = fred::types::Builder::from_config(config).build()?;
    runtime.block_on(client.init())?;
    Ok(within(start, runtime, Fred(client)))
}

impl Cache for Fred {
    async fn set(&mut self, key: &str, value: &[u8]) -> Result<()> {
        Ok(self.0.set(key, value, None, None, false).await?)
    }

    async fn get(&mut self, key: &str) -> Result<Option<usize>> {
        let value: Option<bytes::Bytes> = self.0.get(key).await?;
        Ok(value.map(|value| seen(&value)))
    }
}

/// A socket and a buffer, and just enough of a protocol: what the kernel and the server cost, and no client could beat.
struct Bare {
    socket: UnixStream,
    buffer: Vec<u8>,
    dialect: Dialect,
}

#[derive(Clone, Copy)]
enum Dialect {
    Memcached,
    Redis,
}

pub(super) fn bare_memcached(start: &Start) -> Result<Box<dyn Peer>> {
    here(start, Bare::connect(&start.memcached(), Dialect::Memcached)?)
}

pub(super) fn bare_redis(start: &Start) -> Result<Box<dyn Peer>> {
    here(start, Bare::connect(&start.redis(), Dialect::Redis)?)
}

impl Bare {
    fn connect(socket: &Path, dialect: Dialect) -> Result<Self> {
        Ok(Self { socket: UnixStream::connect(socket)?, buffer: Vec::new(), dialect })
    }

    /// Sends what is in the buffer, and reads until the answer ends as it must.
    fn ask(&mut self, is_complete: fn(&[u8]) -> bool) -> Result<()> {
        self.socket.write_all(&self.buffer)?;
        self.buffer.clear();
        let mut chunk = [0; 8 << 10];
        while !is_complete(&self.buffer) {
            let read = self.socket.read(&mut chunk)?;
            if read == 0 {
                return Err("the server closed the connection".into());
            }
            self.buffer.extend_from_slice(&chunk[..read]);
        }
        Ok(())
    }
}

/// The value of `VALUE key flags length` or `$length`, which fills what is left of the answer.
fn value(answer: &[u8]) -> Option<usize> {
    let line = answer.iter().position(|&byte| byte == b'\n')?;
    let first = std::str::from_utf8(&answer[..line]).ok()?.trim_end();
    let length: usize = first.rsplit([' ', '$']).next()?.parse().ok()?;
    answer.get(line + 1..line + 1 + length).map(seen)
}

impl Cache for Bare {
    async fn set(&mut self, key: &str, value: &[u8]) -> Result<()> {
        self.buffer.clear();
        match self.dialect {
            Dialect::Memcached => write!(self.buffer, "set {key} 0 0 {}\r\n", value.len())?,
            Dialect::Redis => {
                write!(self.buffer, "*3\r\n$3\r\nSET\r\n${}\r\n{key}\r\n${}\r\n", key.len(), value.len())?;
            }
        }
        self.buffer.extend_from_slice(value);
        self.buffer.extend_from_slice(b"\r\n");
        self.ask(|answer| answer.ends_with(b"\r\n"))?;
        if matches!(&*self.buffer, b"STORED\r\n" | b"+OK\r\n") {
            return Ok(());
        }
        Err(format!("the server did not store it: {}", String::from_utf8_lossy(&self.buffer)).into())
    }

    async fn get(&mut self, key: &str) -> Result<Option<usize>> {
        self.buffer.clear();
        match self.dialect {
            Dialect::Memcached => {
                write!(self.buffer, "get {key}\r\n")?;
                self.ask(|answer| answer.ends_with(b"END\r\n"))?;
            }
            Dialect::Redis => {
                write!(self.buffer, "*2\r\n$3\r\nGET\r\n${}\r\n{key}\r\n", key.len())?;
                self.ask(|answer| answer == b"$-1\r\n" || (answer.ends_with(b"\r\n") && value(answer).is_some()))?;
            }
        }
        Ok(value(&self.buffer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_by_its_length() {
        assert_eq!(value(b"VALUE a 0 5\r\nhello\r\nEND\r\n"), Some(5));
        assert_eq!(value(b"$5\r\nhello\r\n"), Some(5));
        assert_eq!(value(b"$5\r\nhel"), None);
        assert_eq!(value(b"$-1\r\n"), None);
        assert_eq!(value(b"END\r\n"), None);
    }
}
