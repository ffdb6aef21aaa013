//! Unit tests of `log::text`.

use super::*;

fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn times_are_right_on_the_days_that_are_easy_to_get_wrong() {
    for (second, expected) in [
        (0, "1970-01-01T00:00:00.000Z"),
        (951_782_400, "2000-02-29T00:00:00.000Z"),
        (1_709_251_199, "2024-02-29T23:59:59.000Z"),
        (4_107_542_400, "2100-03-01T00:00:00.000Z"),
    ] {
        assert_eq!(text(|out| write_time(out, UNIX_EPOCH + Duration::from_secs(second))), expected);
    }
    let time = UNIX_EPOCH + Duration::from_millis(1_795_246_200_123);
    assert_eq!(text(|out| write_time(out, time)), "2026-11-21T07:30:00.123Z");
}

#[test]
fn foreign_text_stays_on_its_line() {
    assert_eq!(text(|out| write_escaped(out, "a\nb\"c\\d\u{7f}é\u{2028}")), "a\\u{a}b\\\"c\\\\d\\u{7f}é\\u{2028}");
}

#[test]
fn what_hides_or_reorders_other_text_is_escaped() {
    for code in (0..0x20)
        .chain(0x7f..0xa0)
        .chain([0xad, 0x61c, 0x180e, 0xfeff, 0xe0041])
        .chain(0x200b..0x2010)
        .chain(0x2028..0x202f)
        .chain(0x2060..0x2070)
    {
        let letter = char::from_u32(code).unwrap();
        assert_eq!(text(|out| write_escaped(out, &format!("a{letter}b"))), format!("a\\u{{{code:x}}}b"));
    }
    let shown = "\u{e9} \u{6f22} \u{1f600} \u{5d0} e\u{301}";
    assert_eq!(text(|out| write_escaped(out, shown)), shown);
}

#[test]
fn numbers_are_written_whole() {
    assert_eq!(text(|out| write_padded(out, 0, 1)), "0");
    assert_eq!(text(|out| write_padded(out, u64::MAX, 1)), u64::MAX.to_string());
}

#[test]
fn a_stamp_moves_within_its_second_and_beyond() {
    let mut stamp = Stamp::default();
    let mut out = Vec::new();
    for millis in [1_795_246_200_001, 1_795_246_200_999, 1_795_246_201_000] {
        out.extend_from_slice(stamp.text(UNIX_EPOCH + Duration::from_millis(millis)));
        out.push(b' ');
    }
    assert_eq!(out, b"2026-11-21T07:30:00.001Z 2026-11-21T07:30:00.999Z 2026-11-21T07:30:01.000Z ");
}

#[test]
fn plain_text_is_printable_ascii_without_quote_and_backslash() {
    assert!(is_plain("") && is_plain(" a~"));
    for letter in '\0'..='ÿ' {
        let expected = matches!(letter, ' '..='~') && letter != '"' && letter != '\\';
        assert_eq!(is_plain(&format!("a{letter}b")), expected, "{letter:?}");
    }
}
