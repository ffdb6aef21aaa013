//! The check that all URLs pass.

use skep::html::{Buffer, Href, HrefPart, UrlPlace};

const REFUSED: &str = "about:invalid";

fn checked(url: &str, place: UrlPlace) -> String {
    let mut out = Buffer::new();
    out.push_trusted("x");
    url.write_checked(place, &mut out);
    out.as_str()[1..].to_owned()
}

#[test]
fn what_a_browser_would_run_is_refused() {
    for url in [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " \t\njavascript:alert(1)",
        "\u{1}javascript:alert(1)",
        "java\tscript:alert(1)",
        "java\r\nscript\r:alert(1)",
        "javascript\n:alert(1)",
        "vbscript:x",
        "data:text/html,<script>alert(1)</script>",
        "DATA:image/png;base64,x",
        "data:",
    ] {
        assert_eq!(checked(url, UrlPlace::Link), REFUSED, "{url:?}");
    }
}

#[test]
fn what_only_looks_like_it_is_left_alone() {
    for url in [
        "",
        "/",
        "/javascript:x",
        "#javascript:x",
        "?q=javascript:x",
        "./javascript:x",
        "https://example.com/javascript:x",
        "mailto:a@example.com",
        "javascript",
        "javascripts:x",
        "ajavascript:x",
        "java%73cript:x",
        "javascript/:x",
        "database:x",
        "ｊavascript:x",
    ] {
        assert_eq!(checked(url, UrlPlace::Link), url, "{url:?}");
    }
    // Not decoded: the browser sees a relative URL.
    assert_eq!(checked("java&#115;cript:x", UrlPlace::Link), "java&amp;#115;cript:x");
}

#[test]
fn media_may_be_data_of_their_kinds_only() {
    for url in ["data:image/png;base64,AA==", "Data:IMAGE/svg+xml,x", "data:audio/ogg,x"] {
        assert_eq!(checked(url, UrlPlace::Media), url);
    }
    for url in ["data:text/html,x", "data:,x", "data:imagex/png,x", "javascript:x"] {
        assert_eq!(checked(url, UrlPlace::Media), REFUSED);
    }
}

#[test]
fn each_candidate_of_a_set_is_checked() {
    let good = "/a.png 1x, https://x/b.png 2x, data:image/png;base64,AA== 3x";
    assert_eq!(checked(good, UrlPlace::MediaSet), good);
    for set in
        ["/a.png 1x, javascript:x 2x", "/a.png 1x,\tJavaScript:x", "/a 1x,\u{1}\rjavascript:x", "data:text/html,x"]
    {
        assert_eq!(checked(set, UrlPlace::MediaSet), REFUSED);
    }
}

#[test]
fn numbers_and_links_are_pieces() {
    fn piece(piece: &impl HrefPart) -> String {
        let mut out = Buffer::new();
        piece.write_part(&mut out);
        out.as_str().to_owned()
    }
    assert_eq!(
        (piece(&7), piece(&&-7_i8), piece(&"a&b"), piece(&'"')),
        ("7".into(), "-7".into(), "a&amp;b".into(), "&quot;".into())
    );
}
