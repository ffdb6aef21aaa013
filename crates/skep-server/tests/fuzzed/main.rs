//! The properties of messages and proxies that `cargo fuzz` looks for exceptions to, for some thousand inputs in each
//! run. `tools/fuzz` includes the modules.

#[path = "../../../skep/tests/fuzzed/draw.rs"]
mod draw;
mod framing;
mod http1;
mod http2;
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

const HEADS: [&[u8]; 36] = [
    b"GET / HTTP/1.1\r\n",
    b"GET / HTTP/1.1\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\n",
    b"POST /a?b HTTP/1.1\r\nHost: x\r\n",
    b"OPTIONS * HTTP/1.0\r\n",
    b"GET http://x/ HTTP/1.2\r\nHost: y\r\n",
    b"Host: x\r\n",
    b"host:y:80\r\n",
    b"Content-Length: 3\r\n",
    b"content-length:\t3 \r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Connection: close, keep-alive\r\n",
    b"Expect: 100-continue\r\n",
    b"A: b\r\n",
    b"A: b\r\n",
    b"a:\r\n",
    b"\r\n",
    b"\r\n",
    b"\r\n\r\n",
    b"\r\n\r\n",
    b"\n",
    b"\r",
    b" ",
    b"\t",
    b":",
    b"\0",
    b"\x7f",
    b"\xff",
    b"HTTP/",
    b"PRI * HTTP/2.0\r\n\r\n",
    b"/%00#?",
    b"@[::1]",
    b"1\r\na\r\n",
    b"0\r\n\r\n",
    b"Trailer: a\r\n",
    b"{}|\\^`\"<>",
];

const CHUNKS: [&[u8]; 18] = [
    b"1\r\na\r\n",
    b"1\r\na\r\n",
    b"00A\r\n0123456789\r\n",
    b"3;a=b;c=\"d\"\r\nabc\r\n",
    b"2 \r\n\r\n\r\n",
    b"0\r\n\r\n",
    b"0\r\n\r\n",
    b"0\r\nA: b\r\n\r\n",
    b"\r\n",
    b"\n",
    b"\r",
    b";",
    b"f",
    b"0",
    b"ffffffffffffffff",
    b"-1",
    b"0x1",
    b"\0",
];

/// Where it is cut, and what is cut.
fn cut(random: &mut fastrand::Rng, pieces: &[&[u8]]) -> Vec<u8> {
    let bytes = input(random, pieces);
    [&random.u16(..).to_le_bytes()[..], &bytes].concat()
}

#[test]
fn a_head_is_read_the_same_however_it_arrives_and_as_others_read_it() {
    let mut random = fastrand::Rng::with_seed(23);
    (0..50_000).for_each(|_| http1::head(&cut(&mut random, &HEADS)));
}

#[test]
fn a_chunked_body_is_read_the_same_however_it_arrives() {
    let mut random = fastrand::Rng::with_seed(29);
    (0..50_000).for_each(|_| http1::chunks(&cut(&mut random, &CHUNKS)));
}

/// Requests with anything behind the first head.
fn connection(random: &mut fastrand::Rng) -> Vec<u8> {
    let pieces: Vec<_> = HEADS.iter().chain(&CHUNKS).copied().collect();
    let first: &[u8] = if random.bool() {
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    } else {
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    };
    [first, &input(random, &pieces)].concat()
}

#[test]
fn messages_are_for_hyper_what_they_are_for_us() {
    let mut random = fastrand::Rng::with_seed(31);
    (0..5_000).for_each(|_| http1::messages(&connection(&mut random)));
}

#[test]
#[ignore = "needs Go"]
fn messages_are_for_go_what_they_are_for_us() {
    let mut random = fastrand::Rng::with_seed(37);
    (0..20_000).for_each(|_| framing::of_go(&connection(&mut random)));
}

fn noise(random: &mut fastrand::Rng) -> Vec<u8> {
    (0..random.usize(0..400)).map(|_| random.u8(..)).collect()
}

#[test]
fn a_header_block_is_the_same_however_it_is_written_and_arrives() {
    let mut random = fastrand::Rng::with_seed(41);
    (0..4_000).for_each(|_| http2::header_blocks(&noise(&mut random)));
}

/// Heads of frames, blocks, and what ends them.
const FRAMES: [&[u8]; 14] = [
    b"\0\0\x03\x01\x05\0\0\0\x01\x82\x86\x84",
    b"\0\0\x06\x01\x04\0\0\0\x03\x82\x86\x44\x02/#",
    b"\0\0\x01\x01\0\0\0\0\x05\x82",
    b"\0\0\x02\x09\x04\0\0\0\x05\x86\x84",
    b"\0\0\0\x09\0\0\0\0\x05",
    b"\0\0\x02\0\x01\0\0\0\x03hi",
    b"\0\0\x01\x01\x05\0\0\0\x03\x88",
    b"\0\0\0\x04\0\0\0\0\0",
    b"\0\0\x04\x03\0\0\0\0\x03\0\0\0\x08",
    b"\0\0\x08\x06\0\0\0\0\0abcdefgh",
    b"\0\0\x09\x01\x2c\0\0\0\x07\x02\0\0\0\0\x09\x82\0\0",
    b"\0\x40\x01\x01\x04\0\0\0\x09",
    b"\0\0\x05\x01\x05\0\0\0\x0b\x82\x86\xc0\xbf\xbe",
    b"\0\0",
];

#[test]
fn frames_are_found_wherever_they_are_cut() {
    let mut random = fastrand::Rng::with_seed(43);
    (0..20_000).for_each(|_| {
        let size = [random.u8(..)];
        http2::frames_of_any_bytes(&[&size[..], &input(&mut random, &FRAMES)].concat());
    });
}
