//! Clients that do with HTTP/2 what no browser does.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use super::Client;
use crate::http2::{Http2, Method};

/// The window of a client that takes what it gets.
const OPEN: u32 = 65_535;

const STREAMS: u32 = 100;

/// How long a busy server may take to see that a client sends too much.
const CLOSES_WITHIN: Duration = Duration::from_secs(1);

/// 20 connections with 100 requests each, whose responses they do not let the server send.
pub(super) fn zero_windows(client: &mut Client) -> io::Result<()> {
    while client.http2.len() < 20 {
        let mut http2 = Http2::open(client.connect()?, 0)?;
        for _ in 0..STREAMS {
            http2.request(Method::Get, "/large");
        }
        http2.send()?;
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
        let stream = http2.request(Method::Get, "/slow/9999");
        http2.send()?;
        client.count(1);
        thread::sleep(Duration::from_millis(2));
        http2.reset(stream);
        http2.read()?;
    }
    Ok(())
}

/// Requests that need a thread for blocking work, of a client that is gone before they are answered.
pub(super) fn offload(client: &mut Client) -> io::Result<()> {
    let mut http2 = Http2::open(client.connect()?, OPEN)?;
    for _ in 0..STREAMS {
        http2.request(Method::Post, "/begin");
    }
    http2.send()?;
    client.count(STREAMS.into());
    Ok(())
}

/// Frames that a flood sends at once: more than a connection may send of those that are limited.
const FRAMES: u32 = 1000;

/// Requests that are cancelled in the same breath (CVE-2023-44487).
pub(super) fn rapid_reset(client: &mut Client) -> io::Result<()> {
    new_connection(client, |http2| {
        (0..FRAMES).for_each(|_| {
            let stream = http2.request(Method::Get, "/slow/9999");
            http2.reset(stream);
        });
    })
}

/// A request whose fields come in ever more CONTINUATION frames (CERT/CC VU#421644).
pub(super) fn continuation(client: &mut Client) -> io::Result<()> {
    new_connection(client, |http2| {
        let stream = http2.request_with_fields("/");
        (0..FRAMES).for_each(|_| http2.field(stream));
    })
}

/// A body of DATA frames with nothing in them (CVE-2019-9518).
pub(super) fn empty_data(client: &mut Client) -> io::Result<()> {
    new_connection(client, |http2| {
        let stream = http2.request_with_body("/write");
        (0..FRAMES).for_each(|_| http2.data(stream, &[]));
    })
}

/// A connection with 100 requests, whose client changes their windows again and again; each change has to be
/// acknowledged (CVE-2019-9515).
pub(super) fn settings(client: &mut Client) -> io::Result<()> {
    new_connection(client, |http2| beside_requests(http2, |http2| http2.settings(OPEN)))
}

/// A connection with ever more pings, each of which has to be answered (CVE-2019-9512).
pub(super) fn pings(client: &mut Client) -> io::Result<()> {
    new_connection(client, |http2| beside_requests(http2, Http2::ping))
}

/// 100 requests, and twice as many of these frames as a connection may send.
fn beside_requests(http2: &mut Http2, frame: impl Fn(&mut Http2)) {
    for _ in 0..STREAMS {
        http2.request(Method::Get, "/slow/9999");
    }
    (0..2 * FRAMES).for_each(|_| frame(http2));
}

/// A connection with 100 responses of 100 KB, which the server may send byte by byte (CVE-2019-9511).
pub(super) fn tiny_windows(client: &mut Client) -> io::Result<()> {
    let mut http2 = match client.http2.pop() {
        Some(http2) => http2,
        None => {
            let mut http2 = Http2::open(client.connect()?, 1)?;
            for _ in 0..STREAMS {
                http2.request(Method::Get, "/large");
            }
            http2
        }
    };
    let before = http2.answers;
    for _ in 0..10 {
        http2.widen(0, STREAMS);
        (0..STREAMS).for_each(|number| http2.widen(2 * number + 1, 1));
        exchange(&mut http2)?;
    }
    client.count((http2.answers - before).into());
    client.http2.push(http2);
    Ok(())
}

/// Sends these frames at once on a connection of their own, which the server should then close: that is an error here,
/// and counted.
fn new_connection(client: &Client, frames: impl Fn(&mut Http2)) -> io::Result<()> {
    let mut http2 = Http2::open(client.connect()?, OPEN)?;
    client.count(1);
    frames(&mut http2);
    let sent = Instant::now();
    while sent.elapsed() < CLOSES_WITHIN {
        exchange(&mut http2)?;
    }
    Ok(())
}

fn exchange(http2: &mut Http2) -> io::Result<()> {
    http2.send()?;
    // The server has its turn.
    thread::sleep(Duration::from_millis(2));
    http2.read()
}
