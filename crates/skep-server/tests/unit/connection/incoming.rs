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
