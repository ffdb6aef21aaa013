//! Tests of `page`.

use super::*;

#[test]
fn a_cursor_comes_back_as_it_was_written_and_nothing_else_is_one() {
    for text in ["", "a", "~", "!", "a~!s!e~", "ä b&c=d"] {
        let cursor = Cursor::Before((text.to_owned(), -3_i64, true));
        let mut written = String::new();
        cursor.write(&mut written);
        assert_eq!(Cursor::parse(&written), Some(cursor), "{written}");
    }
    for wrong in ["", "after", "after~", "after~1~2", "behind~1", "after~x", "before~99999999999999999999"] {
        assert_eq!(Cursor::<i64>::parse(wrong), None, "{wrong}");
    }
    assert_eq!(Cursor::<String>::parse("after~!x"), None);
}
