//! Clients that hold connections, and say little.

use std::io::{self, Write};
use std::net::TcpStream;

use super::Client;
use crate::client::{connect_narrow, is_closed};

/// Half of them send a body of 1 MB but for its last bytes, the others only begin one; all go on by a byte a turn.
pub(super) fn slow_bodies(client: &mut Client) -> io::Result<()> {
    drop_closed(client);
    let room = (80 * client.scale).min(400).saturating_sub(client.streams.len() as u64);
    for number in 0..room {
        let mut stream = client.connect()?;
        let head = "POST /write HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000000\r\n\r\ntext=";
        stream.write_all(head.as_bytes())?;
        client.count(1);
        stream.set_nonblocking(true)?;
        if number % 2 == 0 {
            // As much of it as the server takes at once; a later turn cannot send the rest, as it does not block.
            let _ = stream.write(&vec![b'x'; 999_000]);
        }
        client.streams.push(stream);
    }
    send_a_byte(client);
    Ok(())
}

/// A thousand connections for each of ten clients: of four, one says nothing, one sends a head byte by byte, one a
/// body, and one takes nothing of its response. They come 25 a turn, as the machine also runs these clients, and
/// connecting costs them most.
pub(super) fn slow(client: &mut Client) -> io::Result<()> {
    let most = (200 * client.scale).min(client.files / 10);
    let there = (client.streams.len() + client.silent.len()) as u64;
    for number in there..most.min(there + 25) {
        let (said, goes_on) = match number % 4 {
            0 => ("", false),
            1 => ("GET / HTTP/1.1\r\nHost: x\r\nCookie: a=", true),
            2 => (
                "POST /write HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000000\r\n\r\ntext=",
                true,
            ),
            _ => ("GET /large HTTP/1.1\r\nHost: x\r\n\r\n", false),
        };
        let mut stream = connect_narrow(client.from, client.to)?;
        client.count(1);
        stream.write_all(said.as_bytes())?;
        stream.set_nonblocking(true)?;
        let list = if goes_on { &mut client.streams } else { &mut client.silent };
        list.push(stream);
    }
    if client.turn % 10 == 9 {
        drop_closed(client);
        send_a_byte(client);
    }
    Ok(())
}

/// 70 connections that say nothing, and 70 that say half a request.
pub(super) fn idle(client: &mut Client) -> io::Result<()> {
    drop_closed(client);
    while client.streams.len() < 140 {
        let mut stream = client.connect()?;
        if client.streams.len() >= 70 {
            stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n")?;
        }
        client.count(1);
        client.streams.push(stream);
    }
    Ok(())
}

/// More and more connections, as many as there may be files, and up to 20 000: all from one address.
pub(super) fn one_address(client: &mut Client) -> io::Result<()> {
    let most = (4000 * client.scale).min(20_000).min(client.files);
    for _ in 0..100 {
        if client.streams.len() as u64 >= most {
            break;
        }
        let stream = client.connect()?;
        client.count(1);
        client.streams.push(stream);
    }
    // To look at all of them in each turn would cost more than the attack.
    if client.turn % 10 == 9 {
        drop_closed(client);
    }
    Ok(())
}

fn send_a_byte(client: &Client) {
    for mut stream in &client.streams {
        // It may be full, or closed: the next turn looks.
        let _ = stream.write(b"x");
    }
}

fn drop_closed(client: &mut Client) {
    let before = client.streams.len();
    client.streams.retain(|stream: &TcpStream| !is_closed(stream));
    client.refused((before - client.streams.len()) as u64);
}
