//! Unit tests of `form::parameters`.

use super::*;

#[test]
fn parameters_are_found_in_any_order_and_with_any_quotes() {
    let all = |value: &'static str| parameters(value).collect::<Vec<_>>();
    assert_eq!(all(r#"form-data; filename="a;b=c.txt"; NAME=one"#), [("filename", "a;b=c.txt"), ("NAME", "one")]);
    assert_eq!(all(r#"form-data;name="a";filename="b""#), [("name", "a"), ("filename", "b")]);
    assert_eq!(all("form-data; ;; name = a b ; flag; filename=c d.txt "), [("name", "a b"), ("filename", "c d.txt")]);
    assert_eq!(all(r#"x; modification-date="Wed, 12 Feb 1997 16:29:51 -0500"; name="n""#)[1], ("name", "n"));
    assert_eq!(all(r#"x; namex="spoof"; name="n""#)[1], ("name", "n"));
    assert_eq!(all(r#"x; name="not closed"#), []);
    assert_eq!(all("form-data"), []);
    assert_eq!(all(";"), []);
}

/// What a name means, as programs and browsers write it.
#[test]
fn a_name_is_what_its_sender_means() {
    for (sent, name) in [
        (r#""my \"best\" day.jpg""#, r#"my "best" day.jpg"#),
        (r#""\"""#, r#"""#),
        (r#""a\\b""#, r"a\b"),
        (r#""a\\""#, r"a\"),
        (r#""say \"a; b=c\"; then.txt""#, r#"say "a; b=c"; then.txt"#),
        (r#""C:\Users\me\f.txt""#, r"C:\Users\me\f.txt"),
        (r#""C:\new\table.txt""#, r"C:\new\table.txt"),
        (r#""\\server\share\f.txt""#, r"\server\share\f.txt"),
        (r#""C:\""#, r"C:\"),
        (r#""%22best%22 %0D%0A day.jpg""#, "\"best\" \r\n day.jpg"),
        (r#""100%25 %2F.txt""#, "100%25 %2F.txt"),
        (r#""my "best" day.jpg""#, r#"my "best" day.jpg"#),
        (r#""a;b.txt""#, "a;b.txt"),
        (r#""""#, ""),
        (r#"" a ""#, " a "),
        ("plain.txt", "plain.txt"),
        (r"back\slash", r"back\slash"),
        ("\"b\u{fc}cher.txt\"", "b\u{fc}cher.txt"),
    ] {
        for value in [format!("form-data; filename={sent}"), format!("form-data; filename={sent}; name=\"x\"")] {
            // A backslash at the end of a folder escapes the quote, if there is another one.
            if sent == r#""C:\""# && value.contains("name=\"x\"") {
                continue;
            }
            assert_eq!(unquoted_name(parameter(&value, "filename").unwrap()), name, "{value}");
        }
    }
}

#[test]
fn a_boundary_is_a_quoted_string_of_the_grammar() {
    for (sent, boundary) in [("XbX", "XbX"), ("\"XbX\"", "XbX"), ("\"X:b X\"", "X:b X"), (r#""X\bX""#, "XbX")] {
        let value = format!("multipart/form-data; charset=utf-8; boundary={sent}");
        assert_eq!(unquoted(parameter(&value, "boundary").unwrap()), boundary);
    }
}

#[test]
fn an_extended_name_says_its_encoding() {
    for (sent, name) in [
        ("UTF-8''%e2%82%ac%20rates.txt", Some("€ rates.txt")),
        ("utf-8'en'a.txt", Some("a.txt")),
        ("iso-8859-1''%e4.txt", Some("ä.txt")),
        ("UTF-8''", Some("")),
        ("UTF-8''it's", Some("it's")),
        ("UTF-8''%e2%82", None),
        ("UTF-8''%zz", None),
        ("UTF-8''%a", None),
        ("shift_jis''a", None),
        ("UTF-8'a.txt", None),
        ("a.txt", None),
    ] {
        assert_eq!(extended(sent).as_deref(), name, "{sent}");
    }
}
