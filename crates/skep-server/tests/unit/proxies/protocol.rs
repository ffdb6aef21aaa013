//! Unit tests of `proxies::protocol`.

use super::*;

fn read(mut bytes: &[u8]) -> Result<(String, bool, usize), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let proxy = Peer::new("10.0.0.1:1".parse().ok(), false);
    let peer = runtime.block_on(read_header(&mut bytes, proxy)).map_err(|error| error.to_string())?;
    Ok((peer.address.unwrap().to_string(), peer.tls, bytes.len()))
}

fn binary(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
    let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
    [SIGNATURE, &[0x20 | command, family], &length, rest].concat()
}

#[test]
fn the_client_of_either_version_is_read_and_nothing_behind_it() {
    let text = b"PROXY TCP4 192.0.2.1 10.0.0.1 4711 80\r\nGET /";
    assert_eq!(read(text), Ok(("192.0.2.1:4711".to_owned(), false, 5)));
    assert_eq!(read(b"PROXY TCP6 2001:db8::1 ::1 4711 80\r\n").unwrap().0, "[2001:db8::1]:4711");
    assert_eq!(read(b"PROXY UNKNOWN\r\nG"), Ok(("10.0.0.1:1".to_owned(), false, 1)));
    assert_eq!(read(b"PROXY UNKNOWN \xff\xfe\r\nG"), Ok(("10.0.0.1:1".to_owned(), false, 1)), "its rest is ignored");
    let v4 = [192, 0, 2, 1, 10, 0, 0, 1, 0x12, 0x67, 0, 80];
    assert_eq!(read(&[binary(1, 0x11, &v4), b"GET".to_vec()].concat()), Ok(("192.0.2.1:4711".to_owned(), false, 3)));
    assert_eq!(read(&binary(0, 0, &[])), Ok(("10.0.0.1:1".to_owned(), false, 0)), "a health check");
    let mapped = b"PROXY TCP6 ::ffff:192.0.2.1 ::1 4711 80\r\n";
    assert_eq!(read(mapped).unwrap().0, "192.0.2.1:4711");
    let unix = [0; 216];
    assert_eq!(read(&binary(1, 0x31, &unix)), Ok(("10.0.0.1:1".to_owned(), false, 0)), "a client of a unix socket");
    let over_tls = [&v4[..], &[0x20, 0, 5, 1, 0, 0, 0, 0]].concat();
    assert_eq!(read(&binary(1, 0x11, &over_tls)), Ok(("192.0.2.1:4711".to_owned(), true, 0)));
    let after_another = [&v4[..], &[0x01, 0, 2, b'h', b'2', 0x20, 0, 5, 0, 0, 0, 0, 0]].concat();
    assert_eq!(read(&binary(1, 0x11, &after_another)), Ok(("192.0.2.1:4711".to_owned(), false, 0)));
    let second = [&v4[..], &[0x20, 0, 5, 0, 0, 0, 0, 0, 0x20, 0, 5, 1, 0, 0, 0, 0]].concat();
    assert_eq!(read(&binary(1, 0x11, &second)), Ok(("192.0.2.1:4711".to_owned(), true, 0)), "the second says so");
    let v6 = [&[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1][..], &[0; 16], &[0x12, 0x67, 0, 80]].concat();
    assert_eq!(read(&binary(1, 0x21, &v6)).unwrap().0, "[2001:db8::1]:4711");
}

#[test]
fn anything_else_is_an_error() {
    assert!(read(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap_err().contains("neither version"));
    assert!(read(&[b"PROXY TCP4 ", &[b'1'; 200][..]].concat()).is_err());
    assert!(read(b"PROXY TCP4 999.0.2.1 10.0.0.1 4711 80\r\n").is_err());
    assert!(read(&binary(1, 0x11, &[1, 2, 3])).is_err(), "too short for its addresses");
    assert!(read(&[SIGNATURE, &[0x21, 0x11, 0xff, 0xff]].concat()).unwrap_err().contains("too long"));
    assert!(read(b"PROXY").is_err());
    for line in [
        "TCP4 192.0.2.1 10.0.0.1 +4711 80",
        "TCP4 192.0.2.1 10.0.0.1 4711",
        "TCP4 192.0.2.1  10.0.0.1 4711 80",
        "TCP4 192.0.2.1 10.0.0.1 65536 80",
        "TCP4 ::1 ::1 4711 80",
        "TCP5 192.0.2.1 10.0.0.1 4711 80",
        "TCP4 192.0.2.1 10.0.0.1 4711 80 9",
        "TCP6 192.0.2.1 ::1 4711 80",
    ] {
        assert!(read(format!("PROXY {line}\r\n").as_bytes()).is_err(), "{line}");
    }
    assert!(read(b"PROXY TCP4 192.0.2.1 10.0.0.1 4711 80\n").is_err(), "no CR");
    assert!(read(b"PROXY TCP4 192.0.2.1 10.0.0.\xff 4711 80\r\n").is_err(), "no text");
    assert!(read(b"PROXY UNKNOWNS\r\n").is_err(), "another word");
    assert!(
        read(&binary(2, 0x11, &[0; 12])).is_err() && read(&binary(1, 0x41, &[0; 12])).is_err(),
        "no such command, family"
    );
    let mut random = fastrand::Rng::with_seed(11);
    for _ in 0..5_000 {
        let mut bytes = binary(1, random.u8(..), &(0..random.usize(0..60)).map(|_| random.u8(..)).collect::<Vec<_>>());
        let at = random.usize(12..bytes.len());
        bytes[at] = random.u8(..);
        let _ = read(&bytes);
    }
}
