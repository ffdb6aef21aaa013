//! Clients that hold connections, and say little.

use std::io::{self, Write};
use std::net::TcpStream;

use super::Client;
use crate::client::is_closed;

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
    for mut stream in &client.streams {
        // It may be full, or closed: the next turn looks.
        let _ = stream.write(b"x");
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

fn drop_closed(client: &mut Client) {
    let before = client.streams.len();
    client.streams.retain(|stream: &TcpStream| !is_closed(stream));
    client.refused((before - client.streams.len()) as u64);
}
