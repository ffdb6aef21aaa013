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
