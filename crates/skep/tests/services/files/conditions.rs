//! Conditional requests (RFC 9110, 13), case by case.

use std::time::{SystemTime, UNIX_EPOCH};

use http::header::{IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE};

use super::*;

const BEFORE: &str = "Sat, 21 Nov 2020 07:05:08 GMT";
const EXACT: &str = "Sat, 21 Nov 2020 07:05:09 GMT";
const AFTER: &str = "Sat, 21 Nov 2020 07:05:10 GMT";

fn modified(date: SystemTime) -> Site {
    let site = Site::new(&[("a.txt", "0123456789")]);
    fs::File::options().append(true).open(site.path("a.txt")).unwrap().set_modified(date).unwrap();
    settle();
    site
}

fn exact() -> Site {
    modified(httpdate::parse_http_date(EXACT).unwrap())
}

#[test]
fn preconditions_keep_their_order() {
    let site = exact();
    let tag = etag(&site.get("a.txt"));
    let table: &[(&[(HeaderName, &str)], u16)] = &[
        (&[], 200),
        // 13.1.1: strong comparison, lists, `*`.
        (&[(IF_MATCH, "\"now\"")], 200),
        (&[(IF_MATCH, "\"old\", \"now\"")], 200),
        (&[(IF_MATCH, "\"old\",, ,\"now\"")], 200),
        (&[(IF_MATCH, "\"old\"")], 412),
        (&[(IF_MATCH, "W/\"now\"")], 412),
        (&[(IF_MATCH, "*")], 200),
        (&[(IF_MATCH, "now")], 412),
        (&[(IF_MATCH, "")], 412),
        (&[(IF_MATCH, "\"a,b\", \"now\"")], 200),
        (&[(IF_MATCH, "\"old\""), (IF_MATCH, "\"now\"")], 200),
        // 13.1.4: whole seconds; what is no date is ignored.
        (&[(IF_UNMODIFIED_SINCE, BEFORE)], 412),
        (&[(IF_UNMODIFIED_SINCE, EXACT)], 200),
        (&[(IF_UNMODIFIED_SINCE, AFTER)], 200),
        (&[(IF_UNMODIFIED_SINCE, "yesterday")], 200),
        (&[(IF_UNMODIFIED_SINCE, BEFORE), (IF_UNMODIFIED_SINCE, BEFORE)], 200),
        // 13.1.2: weak comparison.
        (&[(IF_NONE_MATCH, "\"now\"")], 304),
        (&[(IF_NONE_MATCH, "W/\"now\"")], 304),
        (&[(IF_NONE_MATCH, "\"old\", W/\"now\"")], 304),
        (&[(IF_NONE_MATCH, "*")], 304),
        (&[(IF_NONE_MATCH, "\"old\"")], 200),
        (&[(IF_NONE_MATCH, "\"old\" \"now\"")], 200),
        (&[(IF_NONE_MATCH, "w/\"now\"")], 200),
        (&[(IF_NONE_MATCH, "\"now")], 200),
        // 13.1.3.
        (&[(IF_MODIFIED_SINCE, BEFORE)], 200),
        (&[(IF_MODIFIED_SINCE, EXACT)], 304),
        (&[(IF_MODIFIED_SINCE, AFTER)], 304),
        (&[(IF_MODIFIED_SINCE, "0")], 200),
        (&[(IF_MODIFIED_SINCE, "Saturday, 21-Nov-20 07:05:09 GMT")], 304),
        (&[(IF_MODIFIED_SINCE, "Sat Nov 21 07:05:09 2020")], 304),
        (&[(IF_MODIFIED_SINCE, EXACT), (IF_MODIFIED_SINCE, EXACT)], 200),
        // 13.2.2, step by step: If-Match before If-Unmodified-Since, ...
        (&[(IF_MATCH, "\"now\""), (IF_UNMODIFIED_SINCE, BEFORE)], 200),
        (&[(IF_MATCH, "\"old\""), (IF_UNMODIFIED_SINCE, AFTER)], 412),
        // ... both before If-None-Match, ...
        (&[(IF_MATCH, "\"old\""), (IF_NONE_MATCH, "\"now\"")], 412),
        (&[(IF_MATCH, "\"now\""), (IF_NONE_MATCH, "\"now\"")], 304),
        (&[(IF_UNMODIFIED_SINCE, BEFORE), (IF_NONE_MATCH, "\"now\"")], 412),
        (&[(IF_UNMODIFIED_SINCE, AFTER), (IF_MODIFIED_SINCE, AFTER)], 304),
        // ... and If-None-Match makes If-Modified-Since void.
        (&[(IF_NONE_MATCH, "\"old\""), (IF_MODIFIED_SINCE, AFTER)], 200),
        (&[(IF_NONE_MATCH, "\"now\""), (IF_MODIFIED_SINCE, BEFORE)], 304),
    ];
    for (fields, status) in table {
        // The tag of the file is not ours to choose.
        let sent: Vec<_> =
            fields.iter().map(|(name, value)| (name, value.replace("now", tag.trim_matches('"')))).collect();
        let sent: Vec<_> = sent.iter().map(|(name, value)| (HeaderName::clone(name), value.as_str())).collect();
        assert_eq!(site.status("a.txt", &sent), *status, "{fields:?}");
    }
}

#[test]
fn without_a_date_of_change_dates_are_ignored() {
    let site = modified(UNIX_EPOCH - Duration::from_secs(1));
    assert!(!site.get("a.txt").headers().contains_key(header::LAST_MODIFIED));
    assert_eq!(site.status("a.txt", &[(IF_MODIFIED_SINCE, AFTER)]), 200);
    assert_eq!(site.status("a.txt", &[(IF_UNMODIFIED_SINCE, BEFORE)]), 200);
}

#[test]
fn if_range_takes_the_very_same_only() {
    let site = exact();
    let tag = etag(&site.get("a.txt"));
    let range = |value: &str| site.status("a.txt", &[(header::RANGE, "bytes=0-0"), (IF_RANGE, value)]);
    for (value, status) in [
        ("now", 206),
        ("W/now", 200),
        ("\"old\"", 200),
        ("now, \"old\"", 200),
        (EXACT, 206),
        (BEFORE, 200),
        (AFTER, 200),
        ("nonsense", 200),
    ] {
        assert_eq!(range(&value.replace("now", &tag)), status, "{value}");
    }
    assert_eq!(site.status("a.txt", &[(header::RANGE, "bytes=0-0")]), 206);
}

/// Nor is a date taken for a strong validator before its second is over (RFC 9110, 8.8.2.2).
#[test]
fn a_change_is_never_in_the_future() {
    let site = modified(SystemTime::now() + Duration::from_hours(1));
    let answer = site.get("a.txt");
    let date = field(&answer, header::LAST_MODIFIED);
    assert!(httpdate::parse_http_date(date).unwrap() <= SystemTime::now());
    assert_eq!(site.status("a.txt", &[(header::RANGE, "bytes=0-0"), (IF_RANGE, date)]), 200);
}
