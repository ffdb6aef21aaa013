//! Valid and invalid values of each type.

use super::*;

#[test]
fn each_type_accepts_valid_values_only() {
    let cases: &[(Type, &[&str], &[&str])] = &[
        (Type::Count, &["0", "40", "007"], &["", "-1", "4.0", "40px", "+4", " 4"]),
        (Type::Positive, &["1", "100"], &["0", "00", "-1", "one"]),
        (Type::Integer, &["0", "-1", "12"], &["", "-", "+1", "1.0"]),
        (Type::Float, &["1", "-1", ".5", "0.25", "1e3", "1E-3"], &["", "1.", "+1", "e3", "1e", "NaN", "inf"]),
        (Type::Step, &["1", "0.1", "any", "ANY"], &["0", "-1", "some"]),
        (Type::Between(0, 8), &["0", "8", "08"], &["9", "-1", "65536", ""]),
        (Type::Mime, &["text/css", "image/svg+xml", "video/mp4; codecs=\"a\""], &["css", "text/", "/css", "text css"]),
        (
            Type::Language,
            &["en", "pt-BR", "zh-Hans-CN", "x-klingon", "de-1996"],
            &["", "e", "english-language", "en_GB", "x"],
        ),
        (Type::MapName, &["#a"], &["a", "#", ""]),
        (Type::Keys, &["a", "a b", "ä"], &["ab", "a a"]),
        (Type::Target, &["_blank", "_TOP", "open"], &["", "_new"]),
        (Type::Floats, &["0,0,10", "1.5, 2"], &["0,,1", "a", ""]),
        (Type::FileTypes, &[".pdf", "image/*", "text/plain, .md"], &["pdf", "image", "*/*", ""]),
        (
            Type::ImageSet,
            &["a.png", "a.png 1x, b.png 2x", "a,b.png 100w, c 200w"],
            &["", "a 1x, b 1x", "a 1x, b 100w", "a 0w", "a 2q", "a,"],
        ),
        (Type::Id, &["a", "ä-1"], &["", "a b"]),
        (Type::IdRefs, &["a b", ""], &["a a"]),
        (Type::Address, &["/a", " b "], &["", " ", "a b", "/x y"]),
        // What browsers would correct is invalid.
        (
            Type::Address,
            words!("/x x?y=z#w https://a.b:80/ //a.b/c mailto:a@b.c foo:bar http://[::1]:8/ a%20b ä"),
            words!("a|b a%2 x#y#z http:x http:///x // http://[x http://a:99999/ a[b a\\b"),
        ),
        (Type::ItemTypes, &["https://a.b/"], &["/a", ""]),
        (
            Type::Moment,
            &["2026-09-16", "2024-02-29", "2026-09-16T12:00Z", "2026-09-16 12:00:01.5+02:00"],
            &["2026-02-29", "2026-13-01", "2026-9-1", "2026-09-16T12:00", "today", "0000-01-01"],
        ),
        (
            Type::Time,
            words!("2026-09 2026 09-16 --02-29 23:59 12:00:00 +01:00 Z 2026-W38 PT4H18M3S P4D 1w 2026-09-16T12:00"),
            &["", "24:00", "12:60", "2026-W54", "P", "PT", "4x", "02-30", "yesterday"],
        ),
        (Type::Time, &["4h 18m 3s"], &[]),
    ];
    for (kind, right, wrong) in cases {
        for value in *right {
            assert_eq!(expected_instead(*kind, value), None, "{kind:?} {value:?}");
        }
        for value in *wrong {
            assert!(expected_instead(*kind, value).is_some(), "{kind:?} {value:?}");
        }
    }
}
