//! Unit tests of `mail::mailbox`.

use super::*;

#[test]
fn addresses_are_those_of_the_standard() {
    let long = |local: usize, label: usize| format!("{}@{}.org", "a".repeat(local), "b".repeat(label));
    let (right, too_long) = (long(64, 63), [long(65, 5), long(5, 64)]);
    let taken = [
        ("ada@example.org", None),
        (" ada@example.org ", None),
        ("a.d+a/x=y@mail.example-1.org", None),
        ("ada@localhost", None),
        ("ada@[192.0.2.1]", None),
        ("ada@[IPv6:2001:db8::1]", None),
        ("\"a b@c\"@example.org", None),
        ("<ada@example.org>", None),
        ("Ada <ada@example.org>", Some("Ada")),
        ("Ada B. Müller <ada@example.org>", Some("Ada B. Müller")),
        ("\"Müller, \\\"Q\\\"\" <ada@example.org>", Some("Müller, \"Q\"")),
        ("=?utf-8?q?x?= <ada@example.org>", Some("=?utf-8?q?x?=")),
        (&right, None),
    ];
    for (text, name) in taken {
        let mailbox = text.parse::<Mailbox>().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(mailbox.name.as_deref(), name, "{text}");
        assert_eq!(mailbox.to_string().parse(), Ok(mailbox), "{text}");
    }
    let refused = [
        "",
        "nonsense",
        "@",
        "ada@",
        "@example.org",
        "a b@example.org",
        "ada@@example.org",
        "ada@exa mple.org",
        ".ada@example.org",
        "ada.@example.org",
        "a..b@example.org",
        "ada@-example.org",
        "ada@example-.org",
        "ada@example..org",
        "ada@.org",
        "ada@[192.0.2]",
        "ada@[IPv6:x]",
        "ada@exämple.org",
        "adä@example.org",
        "Ada ada@example.org",
        "Ada <ada@example.org",
        "Müller, \"Q\" <shop@example.org>",
        "a@b.org, c@d.org",
        "Ada (her) <ada@example.org>",
        "\"Ada <ada@example.org>",
        "\"Ada\" B <ada@example.org>",
        "Ada <>",
        "ada@example.org\r\nBcc: all@example.org",
        "Ada\t<ada@example.org>",
        "ada@example.org\0",
        "\"a\"b\"@example.org",
        &too_long[0],
        &too_long[1],
    ];
    for text in refused {
        assert!(text.parse::<Mailbox>().is_err(), "{text}");
    }
    assert!("adä@example.org".parse::<Mailbox>().unwrap_err().to_string().contains("SMTPUTF8"));
}
