//! How values cross between a component and its host.

use skep::wire::request::{Head, WHOLE, read_fields, write_fields};
use skep::wire::{Reader, Short, Writer};
use skep::{HeaderMap, HeaderValue};

#[test]
fn what_was_written_is_read_and_nothing_else() {
    let mut out = Writer::with_capacity(64);
    out.u8(1);
    out.u16(2);
    let place = out.position();
    out.u32(0);
    out.u64(4);
    out.bytes("é".as_bytes());
    out.rest(b"rest");
    out.u32_at(place, 3);
    let bytes = out.finish();
    let mut all = Reader::new(&bytes);
    assert_eq!((all.u8(), all.u16(), all.u32(), all.u64()), (Ok(1), Ok(2), Ok(3), Ok(4)));
    assert_eq!((all.text(), all.rest()), (Ok("é"), &b"rest"[..]));
    for cut in 0..bytes.len() - 4 {
        let mut short = Reader::new(&bytes[..cut]);
        let read = short.u8().and(short.u16()).and(short.u32()).and(short.u64()).and(short.text());
        assert_eq!(read, Err(Short), "{cut}");
    }
    assert_eq!(Reader::new(&[1, 0, 0, 0, 0xff]).text(), Err(Short));
}

#[test]
fn a_request_is_read_as_it_was_written() {
    let head = Head {
        id: 7,
        seed: (8, 9),
        tls: true,
        method: "GET",
        target: "/writings/bees?page=2",
        authority: "bees.example",
        address: "192.0.2.7:4321",
    };
    let mut fields = HeaderMap::new();
    fields.append("accept", "text/html".parse().unwrap());
    fields.append("accept", HeaderValue::from_bytes(b"\xff").unwrap());
    let mut out = Writer::with_capacity(64);
    head.write(&mut out);
    write_fields(&mut out, &fields, 0, None);
    out.u8(WHOLE);
    out.rest(b"body");
    let bytes = out.finish();
    let mut reader = Reader::new(&bytes);
    assert_eq!(Head::read(&mut reader), Ok(head));
    assert_eq!(head.path(), "/writings/bees");
    assert_eq!(read_fields(&mut reader), Ok(fields));
    assert_eq!((reader.u8(), reader.rest()), (Ok(WHOLE), &b"body"[..]));
    for cut in 0..bytes.len() - 5 {
        let mut short = Reader::new(&bytes[..cut]);
        assert!(Head::read(&mut short).and(read_fields(&mut short)).is_err(), "{cut}");
    }
}
