//! Unit tests of `form::multipart`.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn no_bytes_make_it_panic_or_hoard(sent in "(--x|\r\n|:|;|=|\"|Content-Disposition: form-data; name=a|--|[a-z ]){0,40}", step in 1..9_usize) {
        let mut parser = Parser::new("x");
        let mut pieces = sent.as_bytes().chunks(step);
        while let Ok(event) = parser.next() {
            match (event, pieces.next()) {
                (Event::End, _) | (Event::NeedsMore, None) => break,
                (_, Some(piece)) => parser.push(piece),
                _ => {}
            }
            prop_assert!(parser.buffer.len() <= MOST_HEAD + parser.delimiter.len() + step + MOST_PADDING);
        }
    }
}

/// The last event of a form that arrives in pieces of this length.
fn last(sent: &[u8], step: usize) -> Result<bool, &'static str> {
    let mut parser = Parser::new("x");
    let mut pieces = sent.chunks(step);
    loop {
        match parser.next().map_err(|broken| broken.0)? {
            Event::End => return Ok(true),
            Event::NeedsMore => match pieces.next() {
                Some(piece) => parser.push(piece),
                None => return Ok(false),
            },
            _ => {}
        }
    }
}

#[test]
fn limits_hold_the_same_in_any_pieces() {
    let head = "Content-Disposition: form-data; name=a";
    let form = |padding: usize, long: usize| {
        format!("--x{}\r\n{head}{}\r\n\r\ntext\r\n--x--", " ".repeat(padding), " ".repeat(long - head.len()))
            .into_bytes()
    };
    for step in [1, 2, 3, 7, usize::MAX] {
        assert_eq!(last(&form(MOST_PADDING, MOST_HEAD), step), Ok(true), "{step}");
        assert!(last(&form(MOST_PADDING + 1, head.len()), step).is_err(), "{step}");
        assert!(last(&form(0, MOST_HEAD + 1), step).is_err(), "{step}");
    }
}

#[test]
fn no_byte_is_searched_twice_in_whatever_pieces_it_comes() {
    let head = format!("--x\r\nContent-Disposition: form-data; name=a{}", "\r".repeat(MOST_HEAD / 2));
    let mut parser = Parser::new("x");
    for byte in head.as_bytes().chunks(1) {
        parser.push(byte);
        assert_eq!(parser.next(), Ok(Event::NeedsMore));
        assert!(parser.state == State::Delimiter || parser.buffer.len() - parser.searched <= 4, "{parser:?}");
    }
    // Of many parts that come at once, the buffer is not moved for each.
    let part = "--x\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n";
    let mut parser = Parser::new("x");
    parser.push(part.repeat(1000).as_bytes());
    parser.push(b"--x--");
    let length = parser.buffer.len();
    let events = std::iter::from_fn(|| parser.next().ok().filter(|event| *event != Event::End));
    assert_eq!(events.filter(|event| matches!(event, Event::Content(bytes) if bytes == b"b")).count(), 1000);
    assert_eq!(parser.buffer.len(), length);
}
