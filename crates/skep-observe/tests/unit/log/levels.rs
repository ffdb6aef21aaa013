//! Unit tests of `log::levels`.

use super::*;

fn levels(categories: &[&str]) -> Levels {
    Levels::new("info", &categories.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()).unwrap()
}

#[test]
fn a_category_has_the_level_of_the_nearest_one_above_it() {
    let levels = levels(&["blog=warn", "blog::search=debug", "mail.queue=off", "a::b::c=trace"]);
    for (target, expected) in [
        ("other", LevelFilter::INFO),
        ("blog", LevelFilter::WARN),
        ("blog::index", LevelFilter::WARN),
        ("blog::search", LevelFilter::DEBUG),
        ("blog::search::Index", LevelFilter::DEBUG),
        ("blog.search.Index", LevelFilter::DEBUG),
        ("blog::searching", LevelFilter::WARN),
        ("blogs", LevelFilter::INFO),
        ("mail::queue", LevelFilter::OFF),
        ("a::b", LevelFilter::INFO),
    ] {
        assert_eq!(levels.of(target), expected, "{target}");
    }
    assert_eq!(levels.highest(), LevelFilter::TRACE);
}

#[test]
fn what_is_no_level_is_named() {
    let problem = |text: &str| Levels::new("info", &[text.to_owned()]).unwrap_err();
    assert_eq!(problem("blog"), "\"blog\": expected CATEGORY=LEVEL");
    assert_eq!(problem("blog=loud"), "unknown log level \"loud\": expected error, warn, info, debug, trace or off");
    assert_eq!(problem("a b=info"), "invalid category \"a b\": expected a path such as blog::search");
}

#[test]
fn changes_travel_as_words() {
    for text in ["debug", "blog::search trace", "blog::search off", "blog::search inherit"] {
        let change: LevelChange = text.parse().unwrap();
        assert_eq!(change.to_string(), text);
        assert_eq!(change.to_string().parse(), Ok(change));
    }
    assert_eq!("blog.search debug".parse::<LevelChange>().unwrap().to_string(), "blog::search debug");
    assert!("".parse::<LevelChange>().is_err() && "a b c".parse::<LevelChange>().is_err());
}

#[test]
fn the_last_setting_of_a_category_counts() {
    assert_eq!(levels(&["a=warn", "a=debug"]).of("a"), LevelFilter::DEBUG);
}
