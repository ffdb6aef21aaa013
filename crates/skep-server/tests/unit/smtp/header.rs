//! Unit tests of `smtp::header`.

use super::*;

/// What a reader makes of a value: unfolded (RFC 5322, 2.2.3), and with encoded words decoded (RFC 2047).
fn read(value: &str) -> String {
    let unfolded = value.replace("\r\n", "");
    let mut out = String::new();
    let mut rest = &*unfolded;
    let mut was_encoded = false;
    while let Some((before, word)) = rest.split_once("=?utf-8?q?") {
        let (word, after) = word.split_once("?=").unwrap();
        if !(was_encoded && before == " ") {
            out.push_str(before);
        }
        out.push_str(std::str::from_utf8(&decoded(word)).expect("whole characters"));
        (rest, was_encoded) = (after, true);
    }
    out + rest
}

fn decoded(word: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), word.bytes());
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'_' => b' ',
            b'=' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            byte => byte,
        });
    }
    bytes
}

fn check_lines(name: &str, value: &str) {
    let field = format!("{name}: {value}");
    for (at, line) in field.split("\r\n").enumerate() {
        assert!(line.len() <= LINE, "{} octets: {line}", line.len());
        assert!(!line.contains(['\r', '\n']) && line.is_ascii(), "{line:?}");
        assert!(at == 0 || (line.starts_with(' ') && !line.trim().is_empty()), "{line:?}");
        for word in line.split(' ').filter(|word| word.starts_with("=?")) {
            assert!(word.len() <= 75 && line.len() <= 76, "{line}");
        }
    }
}

#[test]
fn a_subject_is_read_as_it_was_written_and_its_lines_are_short() {
    let of = |sign: &str, count: usize| sign.repeat(count);
    let subjects = [
        String::new(),
        "Your order".into(),
        of("x", 62),
        of("x", 63),
        of("x", 77),
        of("x", 998),
        of("x", 1500),
        format!("short {}", of("x", 1500)),
        of("word ", 400).trim_end().into(),
        format!("two  spaces{}", of("  and", 40)),
        format!("many{}spaces", of(" ", 200)),
        " leading".into(),
        "trailing ".into(),
        of(" ", 100),
        "=?utf-8?q?x?=".into(),
        "a =?utf-8?q?x?= b".into(),
        "a=?b".into(),
        "?=".into(),
        "Grüße".into(),
        of("ü", 700),
        of("💌", 300),
        format!("{}ü", of("x", 44)),
        "Ein Brief: \"Müller\" <a@b.org>, (c)".into(),
        "Re: [x] 100% \\ done; really?".into(),
    ];
    for subject in &subjects {
        let value = text("Subject", subject);
        check_lines("Subject", &value);
        assert_eq!(read(&value), *subject);
        let must = subject.contains("=?") || !subject.is_ascii();
        assert!(!must || value.starts_with("=?utf-8?q?"), "{value}");
    }
}

#[test]
fn names_of_addresses_are_words_quoted_or_encoded() {
    let long = "x".repeat(100);
    let names = [
        ("Ada", "Ada <ada@example.org>"),
        ("Ada Lovelace", "Ada Lovelace <ada@example.org>"),
        ("Lovelace, Ada", "\"Lovelace, Ada\" <ada@example.org>"),
        ("Ada \"Q\" \\", "\"Ada \\\"Q\\\" \\\\\" <ada@example.org>"),
        ("Ada B. C", "\"Ada B. C\" <ada@example.org>"),
        ("Müller", "=?utf-8?q?M=C3=BCller?= <ada@example.org>"),
        ("=?utf-8?q?x?=", "=?utf-8?q?=3D=3Futf-8=3Fq=3Fx=3F=3D?= <ada@example.org>"),
    ];
    for field in ["To", "From", "Reply-To"] {
        for (shown, value) in names {
            let mut address: Mailbox = "x <ada@example.org>".parse().unwrap();
            address.name = Some(shown.into());
            assert_eq!(mailbox(field, &address), value);
        }
        for shown in [&*long, &"Müller ".repeat(30), &"two words ".repeat(30), &"a, b ".repeat(30)] {
            let mut address: Mailbox = "x <ada@example.org>".parse().unwrap();
            address.name = Some(shown.trim().into());
            let value = mailbox(field, &address);
            check_lines(field, &value);
            assert_eq!(read(&value).replace('"', ""), format!("{} <ada@example.org>", shown.trim()));
        }
    }
    let bare: Mailbox = format!("{}@{}.org", "a".repeat(64), "b".repeat(63)).parse().unwrap();
    assert_eq!(mailbox("To", &bare), bare.address);
}
