//! Clients that do with HTTP/2 what no browser does.

use std::io;
use std::thread;
use std::time::Duration;

use super::Client;
use crate::http2::{Http2, Method};

/// The window of a client that takes what it gets.
const OPEN: u32 = 65_535;

const STREAMS: u32 = 100;

/// 20 connections with 100 requests each, whose responses they do not let the server send.
pub(super) fn zero_windows(client: &mut Client) -> io::Result<()> {
    while client.http2.len() < 20 {
        let mut http2 = Http2::open(client.connect()?, 0)?;
        for _ in 0..STREAMS {
            http2.request(Method::Get, "/large")?;
        }
        client.count(STREAMS.into());
        client.http2.push(http2);
    }
    let mut ended = 0;
    client.http2.retain_mut(|http2| {
        let before = http2.ended;
        let goes_on = http2.read().is_ok() && http2.ended < http2.begun();
        ended += http2.ended - before;
        goes_on
    });
    client.refused(ended.into());
    Ok(())
}

/// Requests that are cancelled as soon as the application works on them.
pub(super) fn reset(client: &mut Client) -> io::Result<()> {
    let mut http2 = Http2::open(client.connect()?, OPEN)?;
    // 200 is twice what `limits.http2_resets` allows.
    for _ in 0..2 * STREAMS {
        let stream = http2.request(Method::Get, "/slow/9999")?;
        client.count(1);
        thread::sleep(Duration::from_millis(2));
        http2.reset(stream)?;
        http2.read()?;
    }
    Ok(())
}

/// Requests that need a thread for blocking work, of a client that is gone before they are answered.
pub(super) fn offload(client: &mut Client) -> io::Result<()> {
    let mut http2 = Http2::open(client.connect()?, OPEN)?;
    for _ in 0..STREAMS {
        http2.request(Method::Post, "/begin")?;
    }
    client.count(STREAMS.into());
    Ok(())
}
