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
