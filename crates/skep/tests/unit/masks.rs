//! Unit tests of `masks`.

use super::*;

const fn route(pattern: &'static str, secrets: &'static [(&'static str, bool)]) -> Route {
    Route { pattern, secrets, ..Route::NONE }
}

static RESET: Route = route("/reset/{token}", &[("token", true)]);
static JOIN: Route = route("/teams/{id}/join/{invitation}", &[("id", false), ("invitation", true), ("mail", true)]);
static FILES: Route = route("/shared/{*key}", &[("key", true)]);
static SHOW: Route = route("/teams/{id}", &[("id", false)]);

fn masks() -> Masks {
    let patterns = ["/reset/{token}", "/reset/new", "/teams/{id}/join/{invitation}", "/shared/{*key}", "/teams/{id}"];
    Masks::new(&[&RESET, &JOIN, &FILES, &SHOW], &patterns, vec!["/old".to_owned()])
}

const LONG: &str = "q8JmX0cYxk3mZ5oQe1r2t3u4v5w6x7y8";

#[test]
fn what_a_secret_parameter_holds_is_not_shown_wherever_it_stands() {
    let masks = masks();
    for (path, shown) in [
        ("/reset/abc", "/reset/***"),
        ("/reset/abc/", "/reset/***/"),
        ("/reset/abc/more", "/reset/***/more"),
        ("//reset/abc", "//reset/***"),
        ("/./reset//abc", "/./reset//***"),
        ("/x/../reset/abc", "/x/../reset/***"),
        ("/%72eset/abc", "/%72eset/***"),
        ("/RESET/abc", "/RESET/***"),
        ("/reset/a%2Fb", "/reset/***"),
        ("/reset/%ff", "/reset/***"),
        ("/reset/new", "/reset/new"),
        ("/reset", "/reset"),
        ("/reset/", "/reset/"),
        ("/teams/7/join/abc", "/teams/7/join/***"),
        ("/teams/7/joins/abc", "/teams/7/joins/abc"),
        ("/teams/7", "/teams/7"),
        ("/shared/a/b/c", "/shared/***/***/***"),
        ("/other/abc", "/other/abc"),
        ("*", "*"),
        ("", ""),
    ] {
        assert_eq!(masks.path(path), shown, "{path}");
    }
    for (address, shown) in [
        ("/reset/abc?x=1", "/reset/***?x=1"),
        ("/a?token=abc&y=2", "/a?token=***&y=2"),
        ("/a?TOKEN=abc", "/a?TOKEN=***"),
        ("/a?tok%65n=abc", "/a?tok%65n=***"),
        ("/a?mail=m&id=7", "/a?mail=***&id=7"),
        ("https://example.org/reset/abc?x#y", "https://example.org/reset/***?x#y"),
        ("https://example.org?token=abc", "https://example.org?token=***"),
        ("https://example.org", "https://example.org"),
        ("/plain?a=b", "/plain?a=b"),
    ] {
        assert_eq!(masks.address(address), shown, "{address}");
    }
}

#[test]
fn below_a_mount_what_looks_like_a_token_is_not_shown() {
    let masks = masks();
    assert_eq!(masks.path(&format!("/old/join/{LONG}")), "/old/join/***");
    assert_eq!(masks.path(&format!("/older/{LONG}")), format!("/older/{LONG}"));
    for plain in ["short", "0f8fad5b-d9cb-469f-a165-70867728950e", &format!("app-{LONG}.css")] {
        let path = format!("/old/{plain}");
        assert_eq!(masks.path(&path), path);
    }
    let everywhere = Masks::new(&[], &[], vec![String::new()]);
    assert_eq!(everywhere.address(&format!("https://x/a/{LONG}?b")), "https://x/a/***?b");
}

#[test]
fn without_secrets_nothing_is_copied() {
    let none = Masks::new(&[&SHOW], &["/teams/{id}"], Vec::new());
    let path = format!("/teams/{LONG}?token=abc");
    assert!(matches!(none.address(&path), Cow::Borrowed(_)) && matches!(none.path(&path), Cow::Borrowed(_)));
    assert!(matches!(masks().address("/teams/7?a=b"), Cow::Borrowed(_)));
}
