//! Unit tests of `validation::language`.

use http::HeaderValue;

use super::*;

/// What is chosen of these languages for these lines of `Accept-Language`.
fn chosen(there: &[&'static str], lines: &[&'static str]) -> &'static str {
    let languages: Vec<_> = there.iter().map(|language| Messages { language, ..Messages::ENGLISH }).collect();
    let lines = lines.iter().map(|line| (ACCEPT_LANGUAGE, HeaderValue::from_static(line)));
    choose(&languages, Some(&lines.collect::<http::HeaderMap>().into())).language
}

#[test]
fn a_range_is_looked_up_from_its_end() {
    const CHINESE: &[&str] = &["en", "zh-Hans", "zh-Hant", "de"];
    for (there, accepted, expected) in [
        (CHINESE, "zh-Hant-TW", "zh-Hant"),
        (CHINESE, "zh-hant-tw", "zh-Hant"),
        (CHINESE, "zh-Hans-SG", "zh-Hans"),
        (CHINESE, "zh-Hant-x-private", "zh-Hant"),
        (CHINESE, "zh-Hant-u-co-stroke", "zh-Hant"),
        (CHINESE, "zh-TW", "zh-Hant"),
        (CHINESE, "zh-HK, en", "zh-Hant"),
        (CHINESE, "zh-CN", "zh-Hans"),
        (CHINESE, "zh", "zh-Hans"),
        (CHINESE, "de-AT-1996", "de"),
        (CHINESE, "de-x-pig-latin", "de"),
        (CHINESE, "de-Latn-DE", "de"),
        (CHINESE, "fr, de;q=0.5", "de"),
        (CHINESE, "fr", "en"),
        (CHINESE, "d", "en"),
        (CHINESE, "deu", "en"),
        (CHINESE, "", "en"),
        (&["en", "zh-Hans"], "zh-Hant-TW", "en"),
        (&["en", "zh-Hans"], "zh-TW, en;q=0.5", "en"),
        (&["en", "zh"], "zh-Hant-TW", "zh"),
        (&["en", "zh", "zh-TW"], "zh-Hant", "zh-TW"),
        (&["en", "zh-Hans", "zh-TW"], "zh-Hant-HK", "zh-TW"),
        (&["en", "sr-Cyrl", "sr"], "sr-Latn-RS", "sr"),
        (&["en", "sr-Cyrl", "sr-Latn"], "sr-latn", "sr-Latn"),
        (&["en", "de-AT", "de-CH"], "de", "de-AT"),
        (&["en", "de-AT", "de-CH"], "de-CH-1901", "de-CH"),
        (&["en", "de-AT", "de"], "de-DE", "de"),
        (&["en", "pt-BR"], "pt-PT", "pt-BR"),
    ] {
        assert_eq!(chosen(there, &[accepted]), expected, "{there:?} {accepted}");
    }
}

#[test]
fn weights_are_kept_and_nothing_is_chosen_against_them() {
    const THREE: &[&str] = &["en", "de", "fr"];
    for (lines, expected) in [
        (&["de;q=0.1, en"][..], "en"),
        (&["de;Q=0.1, en;Q=0.5"], "en"),
        (&["de; q=0.9, en; q=0.8"], "de"),
        (&["de;q=1.000, fr"], "de"),
        (&["en;q=0.5, de;q=0.5"], "en"),
        (&["*"], "en"),
        (&["de, *;q=0.5"], "de"),
        (&["de;q=0.1, *;q=0.5"], "en"),
        (&["en;q=0.1, *;q=0.5"], "de"),
        (&["en;q=0, *"], "de"),
        (&["*, en;q=0"], "de"),
        (&["en;q=0, de;q=0, *"], "fr"),
        (&["en-US;q=0, *"], "en"),
        (&["fr, *;q=0"], "fr"),
        (&["it, *;q=0"], "en"),
        (&["*;q=0"], "en"),
        (&["de;q=0"], "en"),
        (&["de;q=0, de-AT"], "en"),
        (&["fr;q=0.3", "de;q=0.7"], "de"),
        (&["it", "*;q=0.1, en;q=0"], "de"),
        // What is malformed is passed over.
        (&["de;q=2, fr;q=0.5"], "fr"),
        (&["de;q=, fr;q=0.5"], "fr"),
        (&["de;q=0.1234, fr;q=0.5"], "fr"),
        (&["de;q=-1, , ;q=1, fr;q=0.001"], "fr"),
        (&["de;level=1;q=0.2, fr;q=0.3"], "fr"),
    ] {
        assert_eq!(chosen(THREE, lines), expected, "{lines:?}");
    }
    assert_eq!(chosen(&["en", "en-GB"], &["en;q=0, en-GB"]), "en-GB", "it is named better than it is excluded");
    assert_eq!(chosen(&["de", "en-GB"], &["en, en-GB;q=0"]), "de");
    assert_eq!(chosen(&[], &["de"]), "en");
}

#[test]
fn a_field_of_any_length_costs_as_much_as_a_short_one() {
    // What is borrowed as long as the program runs is little.
    let leaked = |text: String| &*text.leak();
    let many = |count: usize, last: &str| leaked(format!("{}{last}", "x, ".repeat(count)));
    assert_eq!(chosen(&["en", "de"], &[many(31, "de")]), "de");
    assert_eq!(chosen(&["en", "de"], &[many(32, "de")]), "en", "32 ranges are read");
    assert_eq!(chosen(&["en", "de"], &[many(20_000, "de")]), "en");
    let long = |length: usize| leaked(format!("de{}", "-a".repeat((length - 2) / 2)));
    assert_eq!(chosen(&["en", "de"], &[long(64)]), "de");
    assert_eq!(chosen(&["en", "de"], &[long(66)]), "en", "and those of 64 letters");
    assert_eq!(chosen(&["en", "de"], &[long(60_000), "de;q=0.1"]), "de");
}
