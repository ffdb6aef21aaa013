//! Every answer, cut at every byte, and any bytes at all.

use proptest::prelude::*;

use super::*;

/// All answers of `bytes`, which come in pieces of `piece` bytes; `heads` says which of them answer a HEAD.
fn read(bytes: &[u8], piece: usize, heads: &[bool]) -> Result<Vec<Answered>, Malformed> {
    let (mut parser, mut answers) = (Parser::default(), Vec::new());
    for mut bytes in bytes.chunks(piece.max(1)) {
        while !bytes.is_empty() {
            let to_head = heads.get(answers.len()).copied().unwrap_or(false);
            let (taken, answer) = parser.feed(bytes, to_head)?;
            assert!(taken > 0, "no progress");
            bytes = &bytes[taken..];
            answers.extend(answer);
        }
    }
    answers.extend(parser.end());
    assert!(!parser.has_begun(), "something is left of {:?}", String::from_utf8_lossy(bytes));
    Ok(answers)
}

const ANSWERS: &[(&str, u16, bool)] = &[
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, true),
    ("HTTP/1.1 200\r\ncontent-length:5\r\ncontent-length: 5\r\n\r\nhello", 200, true),
    ("HTTP/1.1 200 OK\ncontent-length: 5\n\nhello", 200, true),
    ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", 404, true),
    ("HTTP/1.1 204 No Content\r\n\r\n", 204, true),
    ("HTTP/1.1 304 Not Modified\r\ncontent-length: 77\r\n\r\n", 304, true),
    ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 200, true),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n5;a=b\r\nhello\r\nA \r\n0123456789\r\n000\r\nx: y\r\n\r\n",
        200,
        true,
    ),
    ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n\r\n1\r\n\n\r\n0\r\n\r\n", 200, true),
    (
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nok",
        201,
        true,
    ),
    ("HTTP/1.1 200 OK\r\nconnection: keep-alive, Close\r\ncontent-length: 1\r\n\r\n!", 200, false),
    ("HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\n!", 200, false),
    ("HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\ncontent-length: 1\r\n\r\n!", 200, true),
];

#[test]
fn every_answer_ends_where_it_ends_wherever_it_is_cut() {
    for (text, status, keeps) in ANSWERS {
        let bytes = text.as_bytes();
        let expected = Answered { status: *status, bytes: bytes.len() as u64, keeps: *keeps };
        for cut in 0..bytes.len() {
            let mut parser = Parser::default();
            assert_eq!(parser.feed(&bytes[..cut], false), Ok((cut, None)), "{text:?} cut at {cut}");
            assert_eq!(parser.feed(&bytes[cut..], false), Ok((bytes.len() - cut, Some(expected))), "{text:?} at {cut}");
        }
        for piece in 1..=bytes.len() {
            assert_eq!(read(bytes, piece, &[]), Ok(vec![expected]), "{text:?} in pieces of {piece}");
        }
    }
}

#[test]
fn what_follows_an_answer_is_the_next_one() {
    let all: String = ANSWERS.iter().map(|(text, ..)| *text).collect();
    for piece in [1, 2, 3, 7, 64, all.len()] {
        let answers = read(all.as_bytes(), piece, &[]).unwrap();
        let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        assert_eq!(statuses, ANSWERS.iter().map(|(_, status, _)| *status).collect::<Vec<_>>());
        assert_eq!(answers.iter().map(|answer| answer.bytes).sum::<u64>(), all.len() as u64);
    }
}

#[test]
fn an_answer_to_head_has_no_body_whatever_it_says() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n";
    let both = format!("{head}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    for piece in 1..both.len() {
        let answers = read(both.as_bytes(), piece, &[true, false]).unwrap();
        assert_eq!(answers.iter().map(|answer| answer.bytes).collect::<Vec<_>>(), [head.len() as u64, 40]);
    }
}

#[test]
fn without_a_length_the_end_of_the_connection_is_the_end() {
    let text = "HTTP/1.1 200 OK\r\n\r\nhello";
    let expected = Answered { status: 200, bytes: text.len() as u64, keeps: false };
    for piece in 1..text.len() {
        assert_eq!(read(text.as_bytes(), piece, &[]), Ok(vec![expected]));
    }
    let mut parser = Parser::default();
    parser.feed(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort", false).unwrap();
    assert_eq!(parser.end(), None);
    assert!(parser.has_begun());
}

#[test]
fn what_is_no_answer_is_refused_with_a_reason() {
    for (text, reason) in [
        ("SSH-2.0-OpenSSH_9.2\r\n", "no HTTP"),
        ("HTTP/2 200\r\n\r\n", "no HTTP"),
        ("HTTP/1.1 2000\r\n\r\n", "no status"),
        ("HTTP/1.1 099 a\r\n\r\n", "no status"),
        ("HTTP/1.1 200 OK\r\nnothing\r\n\r\n", "no colon"),
        ("HTTP/1.1 200 OK\r\na: b\r\n c: d\r\n\r\n", "no name"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", "two lengths"),
        ("HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", "no number"),
        ("HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999\r\n\r\n", "no number"),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n", "chunked"),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n", "no number"),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\r\n", "no number"),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n", "longer than its size"),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n", "2^60"),
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", "switches"),
    ] {
        for piece in [1, 2, 5, text.len()] {
            let error = read(text.as_bytes(), piece, &[]).unwrap_err().to_string();
            assert!(error.contains(reason), "{text:?}: {error}");
        }
    }
}

#[test]
fn what_never_ends_is_refused() {
    let endless = |start: &str, filler: &str| {
        let mut parser = Parser::default();
        let (start, filler) = (start.as_bytes(), filler.repeat(100));
        parser.feed(start, false).unwrap();
        (0..5000).find_map(|_| parser.feed(filler.as_bytes(), false).err()).expect("it has a limit").to_string()
    };
    assert_eq!(endless("HTTP/1.1 200 OK\r\n", "a: b\r\n"), "the head never ends");
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    assert_eq!(endless(&format!("{chunked}1;"), "a"), "the line with the size of a chunk never ends");
    assert_eq!(endless(&format!("{chunked}0\r\n"), "a: b\r\n"), "the trailers never end");
    assert_eq!(endless(&format!("{chunked}1\r\na"), "\r"), "a chunk is longer than its size says");
    assert_eq!(endless("HTTP/1.1 103 Early\r\n\r\n", "HTTP/1.1 103 Early\r\n\r\n"), "interim answers without an end");
}

proptest! {
    #[test]
    fn any_bytes_are_an_answer_or_malformed_and_never_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), piece in 1usize..40) {
        let mut parser = Parser::default();
        for piece in bytes.chunks(piece) {
            let mut rest = piece;
            while !rest.is_empty() {
                let Ok((taken, _)) = parser.feed(rest, false) else { return Ok(()) };
                prop_assert!(taken > 0 && taken <= rest.len());
                rest = &rest[taken..];
            }
        }
    }

    #[test]
    fn a_wrong_byte_anywhere_is_no_panic(which in 0..ANSWERS.len(), at in 0usize..200, byte: u8, piece in 1usize..40) {
        let mut bytes = ANSWERS[which].0.as_bytes().to_vec();
        let at = at % bytes.len();
        bytes[at] = byte;
        let mut parser = Parser::default();
        for piece in bytes.chunks(piece) {
            let mut rest = piece;
            while !rest.is_empty() {
                let Ok((taken, _)) = parser.feed(rest, false) else { return Ok(()) };
                rest = &rest[taken..];
            }
        }
    }

    #[test]
    fn chunks_of_any_sizes_are_one_body(sizes in proptest::collection::vec(1usize..300, 0..8), piece in 1usize..600) {
        let chunks: Vec<String> = sizes.iter().map(|size| format!("{size:x}\r\n{}\r\n", "x".repeat(*size))).collect();
        let text = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{}0\r\n\r\n", chunks.concat());
        let answers = read(text.as_bytes(), piece, &[]).unwrap();
        prop_assert_eq!(answers, vec![Answered { status: 200, bytes: text.len() as u64, keeps: true }]);
    }
}
