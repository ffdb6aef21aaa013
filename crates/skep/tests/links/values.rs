//! The values that links are made of: prefixes and hosts, parameters, slugs.

use skep::Result;
use skep::link::{BaseUrl, Prefix};
use skep::param::{Field, Pairs, Param, Slug};

#[test]
fn an_origin_is_taken_in_its_one_spelling() {
    for (text, expected) in [
        ("https://example.org", "https://example.org"),
        ("HTTP://EXAMPLE.org:80/", "http://example.org"),
        ("https://example.org:8443", "https://example.org:8443"),
        ("http://[::1]:8800", "http://[::1]:8800"),
    ] {
        assert_eq!(text.parse::<BaseUrl>().unwrap().as_str(), expected);
    }
}

#[test]
fn the_error_says_what_a_base_url_would_be() {
    for (text, expected) in [
        ("", "write https://example.org"),
        ("/app", "write https://example.org"),
        ("blog.example/", "write https://blog.example"),
        ("example.org:8800", "write https://example.org"),
        ("ftp://example.org", "begins with https://"),
        ("https://me:secret@example.org", "names nobody"),
        ("https://example.org/?a", "no `?`"),
        ("https://example.org/#a", "no `#`"),
        ("https://example.org/app/", "`Prefix::new(\"/app\")`"),
        ("https://", "write https://example.org"),
    ] {
        let error = text.parse::<BaseUrl>().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn the_error_says_what_a_prefix_would_be() {
    for prefix in ["", "/shop", "/a/b-c/~d"] {
        assert_eq!(Prefix::new(prefix).as_str(), prefix);
    }
    for (wrong, help) in [
        ("shop", "begins with a slash"),
        ("/", "does not end with a slash"),
        ("/shop/", "does not end with a slash"),
        ("/a//b", "remove one slash"),
        ("/{shop}", "letters, digits"),
        ("/caf\u{e9}", "letters, digits"),
    ] {
        let panic = std::panic::catch_unwind(|| Prefix::new(wrong)).expect_err(wrong);
        let message = panic.downcast_ref::<&str>().copied().unwrap_or_default();
        assert!(message.contains(help), "{wrong}: {message}");
    }
}

fn read<F: Field>(query: &str) -> Result<F> {
    F::read("x", &Pairs::decode(query, 8)?)
}

fn complaint<F: Field>(query: &str) -> String {
    read::<F>(query).err().expect("refused").message().expect("explained").to_owned()
}

#[test]
fn a_required_field_says_what_is_missing_or_wrong() {
    assert_eq!(complaint::<u8>("y=1"), "x is missing: a whole number from 0 to 255 is expected");
    assert_eq!(complaint::<u8>("x=256"), "x: \"256\" is not a whole number from 0 to 255");
    assert_eq!(complaint::<u8>("x=1&x=2"), "x is given more than once");
    assert_eq!(read::<u8>("x=7").unwrap(), 7);
}

#[test]
fn an_empty_optional_field_is_none() {
    assert_eq!(read::<Option<u8>>("x=").unwrap(), None);
    assert_eq!(read::<Option<String>>("").unwrap(), None);
    assert_eq!(complaint::<Option<u8>>("x=a"), "x: \"a\" is not a whole number from 0 to 255");
}

#[test]
fn a_repeated_field_keeps_its_order() {
    assert_eq!(read::<Vec<String>>("x=b&y=1&x=a+b").unwrap(), ["b", "a b"]);
}

#[test]
fn a_number_has_one_spelling() {
    assert_eq!(u32::parse("01"), None);
    assert_eq!(u32::parse("+1"), None);
    assert_eq!(i32::parse("-1"), Some(-1));
    assert_eq!(i32::parse("-01"), None);
    assert_eq!(u32::parse("0"), Some(0));
    assert_eq!(i32::parse("-0"), None);
}

#[test]
fn too_many_pairs_and_bytes_that_are_no_text_are_refused() {
    assert!(Pairs::decode("a=1&b=2&c=3", 2).is_err());
    assert!(Pairs::decode("a=%ff", 2).is_err());
    assert!(Pairs::decode("%ff=a", 2).is_err());
    assert!(Pairs::decode("a=a+%ff", 2).is_err());
}

#[test]
fn slugs() {
    assert_eq!(Slug::of("  A  fine -- day ").as_str(), "a-fine-day");
    assert_eq!(Slug::of("日本").as_str(), "untitled");
    for wrong in ["", "-a", "a-", "a--b", "A", "a b", "é"] {
        assert!(wrong.parse::<Slug>().is_err(), "{wrong}");
    }
    for long in ["x".repeat(500), format!("{}ßx", "x".repeat(199))] {
        assert!(Slug::of(&long).as_str().parse::<Slug>().is_ok(), "{long}");
    }
}

#[test]
fn a_name_is_found_with_all_its_values_in_order_in_short_and_in_long_lists() {
    for length in [0, 1, 10, 16, 17, 500] {
        let query: Vec<String> = (0..length).map(|at| format!("n{}={at}", at % 7)).collect();
        let query = query.join("&");
        let pairs = Pairs::decode(&query, length).unwrap();
        for name in ["n0", "n3", "n6", "n7", ""] {
            let expected = (0..length).filter(|at| format!("n{}", at % 7) == name).map(|at| at.to_string());
            assert!(pairs.get(name).eq(expected), "{name} of {length}");
        }
    }
}
