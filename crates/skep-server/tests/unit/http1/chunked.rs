//! Unit tests of `http1::chunked`.

use super::*;

/// The data of a body that arrives in two parts, and how many bytes it has.
fn decode(body: &[u8], cut: usize) -> Result<Option<(Vec<u8>, usize)>, StatusCode> {
    let (mut chunked, mut data, mut total) = (Chunked::default(), Vec::new(), 0);
    for part in [&body[..cut], &body[cut..]] {
        let mut part = part;
        loop {
            let (taken, decoded) = chunked.decode(part).map_err(|rejection| rejection.status)?;
            (part, total) = (&part[taken..], total + taken);
            match decoded {
                Decoded::Data(bytes) => data.extend_from_slice(bytes),
                Decoded::More => break,
                Decoded::End => return Ok(Some((data, total))),
            }
        }
    }
    Ok(None)
}

#[test]
fn where_a_body_is_cut_makes_no_difference() {
    let body = b"5\r\nhello\r\n00A;name=\"value\"\r\n, chunked \r\n0\r\nTrailer: dropped\r\n\r\nGET / HTTP/1.1";
    let end = body.len() - "GET / HTTP/1.1".len();
    for cut in 0..body.len() {
        assert_eq!(decode(body, cut), Ok(Some((b"hello, chunked ".to_vec(), end))), "cut at {cut}");
    }
    for cut in 0..end {
        assert_eq!(decode(&body[..cut], cut / 2), Ok(None), "incomplete at {cut}");
    }
}

#[test]
fn a_body_has_as_many_chunks_as_it_likes() {
    let body = ["1\r\na\r\n".repeat(MOST_DROPPED), "0\r\n\r\n".to_owned()].concat();
    assert_eq!(decode(body.as_bytes(), 7), Ok(Some((vec![b'a'; MOST_DROPPED], body.len()))));
    let zeros = format!("{}1\r\na\r\n", "0".repeat(2 * MOST_DROPPED));
    assert_eq!(decode(zeros.as_bytes(), 0), Err(StatusCode::PAYLOAD_TOO_LARGE));
}

#[test]
fn what_is_doubtful_is_rejected_wherever_it_is_cut() {
    let long = format!("1;{}\r\nx\r\n0\r\n\r\n", "e".repeat(MOST_DROPPED));
    for (body, status) in [
        ("\r\n", 400),
        ("g\r\n", 400),
        ("-1\r\n", 400),
        ("0x1\r\na\r\n", 400),
        ("1\na\r\n", 400),
        ("1\r\nab\r\n", 400),
        ("1\r\na\n0\r\n\r\n", 400),
        ("1\rX\na\r\n", 400),
        ("1;\u{1}\r\na\r\n", 400),
        ("10000000000000000\r\n", 400),
        ("0\r\n folded\r\n\r\n", 400),
        ("0\r\n: no name\r\n\r\n", 400),
        ("0 / HTTP/1.1\r\n\r\n", 400),
        ("0\r\nno colon\r\n\r\n", 400),
        ("0\r\nnone\r\n\r\n", 400),
        ("0\r\n\n", 400),
        (&long, 413),
    ] {
        for cut in (0..body.len()).take(99) {
            assert_eq!(decode(body.as_bytes(), cut), Err(StatusCode::from_u16(status).unwrap()), "{body:?} at {cut}");
        }
    }
}
