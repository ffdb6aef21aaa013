//! Unit tests of `connection::incoming`.

use super::*;

fn read(body: &mut Incoming) -> Poll<Option<Result<Bytes, String>>> {
    let mut cx = Context::from_waker(Waker::noop());
    let frame = Pin::new(body).poll_frame(&mut cx);
    frame.map(|frame| {
        frame.map(|frame| frame.map(|frame| frame.into_data().unwrap()).map_err(|error| error.to_string()))
    })
}

#[test]
fn a_piece_is_received_when_it_is_wanted() {
    let cx = Context::from_waker(Waker::noop());
    let (mut body, mut receiver) = Incoming::new(Encoding::Length(5), true);
    assert!(!receiver.wants_more(&cx));
    assert!(read(&mut body).is_pending() && receiver.wants_more(&cx));
    assert!(receiver.takes_continue() && !receiver.takes_continue());
    assert_eq!(receiver.take(b"abc", &cx), (3, Taken::Piece));
    assert!(!receiver.wants_more(&cx));
    assert_eq!(read(&mut body), Poll::Ready(Some(Ok(Bytes::from_static(b"abc")))));
    assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(2), false));
    assert!(read(&mut body).is_pending());
    assert_eq!(receiver.take(b"deGET /", &cx), (2, Taken::All));
    drop(receiver);
    assert_eq!(read(&mut body), Poll::Ready(Some(Ok(Bytes::from_static(b"de")))));
    assert!(body.is_end_stream());
    assert_eq!(read(&mut body), Poll::Ready(None));
}

#[test]
fn a_failure_is_returned_once_and_so_is_the_end_of_the_connection() {
    let cx = Context::from_waker(Waker::noop());
    let (mut body, mut receiver) = Incoming::new(Encoding::Chunked(Chunked::default()), false);
    assert_eq!(receiver.take(b"1", &cx), (1, Taken::Nothing));
    assert_eq!(receiver.take(b"x\r\n", &cx), (3, Taken::Piece));
    assert_eq!(read(&mut body), Poll::Ready(Some(Err("the body is not made of chunks".to_owned()))));
    assert!(!receiver.wants_more(&cx), "nothing more is read");
    assert_eq!(read(&mut body), Poll::Ready(None));
    let (mut body, receiver) = Incoming::new(Encoding::Length(1), false);
    assert!(read(&mut body).is_pending());
    drop(receiver);
    assert!(matches!(read(&mut body), Poll::Ready(Some(Err(_)))));
}

#[test]
fn a_rest_is_dropped_if_it_is_short_and_surely_comes() {
    let cx = Context::from_waker(Waker::noop());
    let receiver = |encoding, waits| Incoming::new(encoding, waits).1;
    let can = |encoding, waits, most| receiver(encoding, waits).can_be_dropped(most);
    assert!(can(Encoding::Length(10), false, 10) && !can(Encoding::Length(11), false, 10));
    assert!(can(Encoding::Chunked(Chunked::default()), false, 1));
    assert!(!can(Encoding::Chunked(Chunked::default()), false, 0) && !can(Encoding::Length(1), true, 10));
    let mut broken = receiver(Encoding::Chunked(Chunked::default()), false);
    broken.take(b"x", &cx);
    assert!(!broken.can_be_dropped(10));
    let (mut body, mut receiver) = Incoming::new(Encoding::Length(5), false);
    receiver.take(b"abc", &cx);
    let mut rest = receiver.into_rest();
    assert_eq!(rest.decode(b"deGET /"), Ok((2, Decoded::Data(b"de"))));
    assert_eq!(rest.decode(b"GET /"), Ok((0, Decoded::End)));
    assert_eq!(read(&mut body), Poll::Ready(Some(Ok(Bytes::from_static(b"abc")))));
    assert!(matches!(read(&mut body), Poll::Ready(Some(Err(_)))), "who reads on learns that there is no more");
}

/// Each chunk a piece of its own would cost a poll of the whole application.
#[test]
fn all_chunks_that_were_received_are_one_piece() {
    let cx = Context::from_waker(Waker::noop());
    let chunked = || Incoming::new(Encoding::Chunked(Chunked::default()), false);
    let small = "1\r\na\r\n".repeat(1000);
    for (bytes, data, taken) in [
        (small.clone(), "a".repeat(1000), Taken::Piece),
        (format!("{small}0\r\n\r\nGET"), "a".repeat(1000), Taken::All),
        (format!("{small}0\r\nA: b\r\n\r\n"), "a".repeat(1000), Taken::All),
        (
            format!("3;x=y\r\nabc\r\n10\r\n{0}\r\nF\r\n{1}\r\n2\r\nx", "d".repeat(16), "e".repeat(15)),
            format!("abc{}{}x", "d".repeat(16), "e".repeat(15)),
            Taken::Piece,
        ),
    ] {
        let (mut body, mut receiver) = chunked();
        assert!(read(&mut body).is_pending());
        let used = bytes.len() - if bytes.ends_with("GET") { 3 } else { 0 };
        assert_eq!(receiver.take(bytes.as_bytes(), &cx), (used, taken), "{bytes:.60}");
        assert_eq!(read(&mut body), Poll::Ready(Some(Ok(Bytes::from(data)))), "{bytes:.60}");
        assert_eq!(body.is_end_stream(), taken == Taken::All);
    }
    // What is good before a mistake is given, and then the mistake.
    let (mut body, mut receiver) = chunked();
    assert!(read(&mut body).is_pending());
    assert_eq!(receiver.take(b"1\r\na\r\n1\r\nbX", &cx), (11, Taken::Piece));
    assert_eq!(read(&mut body), Poll::Ready(Some(Ok(Bytes::from_static(b"ab")))));
    assert_eq!(read(&mut body), Poll::Ready(Some(Err("the body is not made of chunks".to_owned()))));
}

#[test]
fn small_chunks_are_taken_as_byte_by_byte() {
    let body =
        ["1\r\na\r\n", "f\r\n123456789012345\r\n", "01\r\nb\r\n", "2;a\r\ncd\r\n", "A\r\n1234567890\r\n"].concat();
    for end in 0..body.len() {
        let bytes = &body.as_bytes()[..end];
        let (mut slow, mut expected) = (Chunked::default(), Vec::new());
        for byte in bytes {
            if let Ok((1, Decoded::Data(data))) = slow.decode(&[*byte]) {
                expected.extend_from_slice(data);
            }
        }
        let (mut fast, mut data, mut at) = (Chunked::default(), Vec::new(), 0);
        loop {
            at += fast.take_small(&bytes[at..], &mut data);
            let (count, decoded) = fast.decode(&bytes[at..]).unwrap();
            at += count;
            let Decoded::Data(more) = decoded else { break };
            data.extend_from_slice(more);
        }
        assert_eq!((data, at), (expected, end));
    }
}
