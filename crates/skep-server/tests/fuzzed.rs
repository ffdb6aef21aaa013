//! The properties of proxies that `cargo fuzz` looks for exceptions to (`tools/fuzz/src/proxies.rs`), for some thousand inputs in each
//! run.

#[path = "../../../tools/fuzz/src/proxies.rs"]
mod proxies;

/// What the formats give a meaning to, and what borders on it.
const FIELDS: [&[u8]; 24] = [
    b"\nd",
    b"\ne",
    b"\ne",
    b"\nf",
    b"\ng",
    b"for=",
    b"proto=https",
    b"host=",
    b"\"",
    b"\"",
    b"\\",
    b",",
    b",",
    b";",
    b" ",
    b"=",
    b"192.0.2.1",
    b"10.0.0.2",
    b"[::1]:80",
    b"_x",
    b"https",
    b"example.org",
    b"\xff",
    b"@",
];

const HEADERS: [&[u8]; 16] = [
    b"PROXY ",
    b"PROXY TCP4 ",
    b"PROXY UNKNOWN",
    b"192.0.2.1 10.0.0.1 ",
    b"4711 80",
    b"\r\n",
    b"\n",
    b"\r\n\r\n\0\r\nQUIT\n",
    b"\x21\x11\0\x0c",
    b"\x21\x11\0\x14",
    b"\x20\0\0\0",
    b"\xc0\0\x02\x01\x0a\0\0\x01\x12\x67\0\x50",
    b"\x20\0\x05\x01\0\0\0\0",
    b"\0",
    b"\xff",
    b"::1 ",
];

/// Pieces, and a byte of noise now and then.
fn input(random: &mut fastrand::Rng, pieces: &[&[u8]]) -> Vec<u8> {
    let mut input = Vec::new();
    for _ in 0..random.usize(0..14) {
        input.extend_from_slice(pieces[random.usize(0..pieces.len())]);
        if random.u8(0..20) == 0 {
            input.push(random.u8(..));
        }
    }
    input
}

#[test]
fn no_field_of_a_client_gives_it_another_address() {
    let mut random = fastrand::Rng::with_seed(17);
    (0..10_000).for_each(|_| proxies::forwarded(input(&mut random, &FIELDS).trim_ascii_start()));
}

#[test]
fn a_proxy_header_is_read_the_same_whatever_is_behind_it() {
    let mut random = fastrand::Rng::with_seed(19);
    (0..10_000).for_each(|_| proxies::proxy_header(&input(&mut random, &HEADERS)));
}
