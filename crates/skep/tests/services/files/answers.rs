//! Status and header fields: the plain case, conditions, directories, what is refused.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use skep::App;
use skep::test::Client;

use super::*;

#[test]
fn a_file_comes_with_all_that_is_known_of_it() {
    for from_memory in [false, true] {
        let held = if from_memory { 1 << 20 } else { 0 };
        let site = Site::with(&[("hello.txt", "Hello, world!")], |files| files.held(held));
        settle();
        let answer = site.get("hello.txt");
        assert_eq!(answer.status(), 200);
        assert_eq!(field(&answer, header::CONTENT_TYPE), "text/plain; charset=utf-8");
        assert_eq!(field(&answer, header::CONTENT_LENGTH), "13");
        assert_eq!(field(&answer, header::ACCEPT_RANGES), "bytes");
        assert_eq!(field(&answer, header::CACHE_CONTROL), "no-cache");
        assert_eq!(field(&answer, header::X_CONTENT_TYPE_OPTIONS), "nosniff");
        assert_eq!(field(&answer, header::VARY), "");
        assert!(httpdate::parse_http_date(field(&answer, header::LAST_MODIFIED)).is_ok());
        let tag = etag(&answer);
        assert!(tag.starts_with('"') && tag.ends_with('"') && tag.len() > 2, "{tag}");
        assert_eq!(is_from_memory(&answer), from_memory);
        assert_eq!(text(answer), "Hello, world!");
    }
}

#[test]
fn a_name_gives_its_type() {
    const UNKNOWN: &str = "application/octet-stream";
    for (name, media_type) in [
        ("index.html", "text/html; charset=utf-8"),
        ("A.TXT", "text/plain; charset=utf-8"),
        ("app.min.mjs", "text/javascript; charset=utf-8"),
        ("x.wasm", "application/wasm"),
        ("x.webmanifest", "application/manifest+json"),
        ("x.woff2", "font/woff2"),
        ("README", UNKNOWN),
        ("x.", UNKNOWN),
        ("x.an-extension-nobody-has", UNKNOWN),
    ] {
        assert_eq!(field(&Site::new(&[(name, "")]).get(name), header::CONTENT_TYPE), media_type, "{name}");
    }
}

#[test]
fn head_has_the_fields_of_get_and_no_body() {
    let site = Site::new(&[("hello.txt", "Hello, world!")]);
    settle();
    let get = site.get("hello.txt");
    let head = site.ask(&Method::HEAD, "hello.txt", &HeaderMap::new()).unwrap();
    assert_eq!(head.headers(), get.headers());
    assert_eq!((head.status().as_u16(), head.body().len()), (200, Some(0)));
}

#[test]
fn other_methods_are_not_allowed_and_told_which_are() {
    let site = Site::new(&[("hello.txt", "")]);
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
        let error = site.ask(&method, "hello.txt", &HeaderMap::new()).unwrap_err();
        assert_eq!(error.status(), 405, "{method}");
    }
}

#[test]
fn conditions_are_met_with_304_and_412() {
    let site = Site::new(&[("a.txt", "content"), ("old.txt", "content")]);
    settle();
    let (tag, date) = {
        let answer = site.get("a.txt");
        (etag(&answer), field(&answer, header::LAST_MODIFIED).to_owned())
    };
    let (long_ago, weak) = ("Thu, 01 Jan 1970 00:00:00 GMT", format!("W/{tag}"));
    for (fields, status) in [
        (vec![(header::IF_NONE_MATCH, tag.as_str())], 304),
        (vec![(header::IF_NONE_MATCH, &weak)], 304),
        (vec![(header::IF_NONE_MATCH, "*")], 304),
        (vec![(header::IF_NONE_MATCH, "\"other\"")], 200),
        (vec![(header::IF_MODIFIED_SINCE, &date)], 304),
        (vec![(header::IF_MODIFIED_SINCE, long_ago)], 200),
        (vec![(header::IF_NONE_MATCH, "\"other\""), (header::IF_MODIFIED_SINCE, &date)], 200),
        (vec![(header::IF_MATCH, &tag)], 200),
        (vec![(header::IF_MATCH, &weak)], 412),
        (vec![(header::IF_MATCH, "\"other\"")], 412),
        (vec![(header::IF_MATCH, &tag), (header::IF_UNMODIFIED_SINCE, long_ago)], 200),
        (vec![(header::IF_UNMODIFIED_SINCE, long_ago)], 412),
        (vec![(header::IF_UNMODIFIED_SINCE, long_ago), (header::IF_NONE_MATCH, &tag)], 412),
        // RFC 9110, 13.2.2: the range comes last.
        (vec![(header::IF_NONE_MATCH, &tag), (header::RANGE, "bytes=0-0")], 304),
        (vec![(header::IF_MATCH, "\"other\""), (header::RANGE, "bytes=0-0")], 412),
        (vec![(header::IF_MATCH, &tag), (header::RANGE, "bytes=0-0")], 206),
    ] {
        assert_eq!(site.status("a.txt", &fields), status, "{fields:?}");
    }
    // RFC 9110, 13.2.1: where the plain answer would be another, conditions do not count.
    assert_eq!(site.status("none.txt", &[(header::IF_MATCH, "\"other\"")]), 404);
    assert_ne!(etag(&site.get("old.txt")), tag, "another file is another thing, whatever is in it");
}

#[test]
fn a_304_has_what_updates_a_copy_and_no_more() {
    let site = Site::with(&[("a.txt", "content"), ("a.txt.gz", "packed")], |files| files.cache_control("max-age=5"));
    settle();
    let tag = etag(&site.get("a.txt"));
    let answer = site.get_with("a.txt", &[(header::IF_NONE_MATCH, &tag)]);
    let mut names: Vec<&str> = answer.headers().keys().map(HeaderName::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["cache-control", "etag", "vary"]);
    assert_eq!((answer.body().len(), etag(&answer)), (Some(0), tag));
}

#[test]
fn a_directory_answers_with_its_index() {
    let site = Site::new(&[("index.html", "<p>root"), ("docs/index.html", "<p>docs"), ("empty/other.txt", "")]);
    assert_eq!(site.text(""), "<p>root");
    assert_eq!(site.text("docs/"), "<p>docs");
    assert_eq!(field(&site.get("docs/"), header::CONTENT_TYPE), "text/html; charset=utf-8");
    for path in ["empty/", "empty", "index.html/", "none/"] {
        assert_eq!(site.status(path, &[]), 404, "{path}");
    }
    let site = Site::with(&[("docs/start.htm", "start"), ("docs/index.html", "")], |files| files.index("start.htm"));
    assert_eq!(site.text("docs/"), "start");
    let site = Site::with(&[("docs/index.html", "")], |files| files.index(""));
    assert_eq!(site.status("docs/", &[]), 404);
}

#[test]
fn a_directory_without_its_slash_is_led_to_it() {
    let site = Site::new(&[("docs/index.html", "<p>docs"), ("index.html", "")]);
    for (path, full, location) in [
        ("docs", "/static/docs", "/static/docs/"),
        ("docs", "/static/docs?page=2&q=%20", "/static/docs/?page=2&q=%20"),
        ("docs", "/static/docs?a?b", "/static/docs/?a?b"),
        ("docs", "//docs", "/docs/"),
        ("docs", "///docs", "/docs/"),
        ("", "/static", "/static/"),
        ("", "/static?x=/", "/static/?x=/"),
    ] {
        let answer = site.files.answer(&Method::GET, path, full, &HeaderMap::new()).unwrap();
        assert_eq!((answer.status().as_u16(), field(&answer, header::LOCATION)), (308, location), "{full}");
    }
}

#[test]
fn a_listing_is_a_page_with_folders_first() {
    let names =
        [("b.txt", "12345"), ("zoo/x", ""), ("A.txt", ""), (".hidden", ""), ("<i>&\"x:y'.txt", ""), ("50% ü.md", "")];
    let site = Site::with(&names, |files| files.listing(true));
    std::os::unix::fs::symlink("/etc", site.path("etc")).unwrap();
    std::os::unix::fs::symlink("zoo", site.path("linked")).unwrap();
    let answer = site.get("");
    assert_eq!(field(&answer, header::CONTENT_TYPE), "text/html; charset=utf-8");
    let length: usize = field(&answer, header::CONTENT_LENGTH).parse().unwrap();
    let page = text(answer);
    assert_eq!(page.len(), length);
    let links: Vec<&str> = page.split("<a href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let expected = ["./linked/", "./zoo/", "./50%25%20%C3%BC.md", "./%3Ci%3E%26%22x%3Ay%27.txt", "./A.txt", "./b.txt"];
    assert_eq!(links, expected);
    assert!(
        page.contains("&#60;i&#62;&#38;&#34;x:y&#39;.txt</a>")
            && page.contains("<td>5 B</td>")
            && page.contains(" GMT</td>")
    );
    for link in links {
        assert_ne!(site.status(link.trim_start_matches("./"), &[]), 404, "{link}");
    }
    assert!(site.text("zoo/").contains("<a href=\"../\">"));
    assert_eq!(site.status("zoo", &[]), 308);
    assert_eq!(site.status("b.txt/", &[]), 404);
    let head = site.ask(&Method::HEAD, "", &HeaderMap::new()).unwrap();
    assert_eq!((field(&head, header::CONTENT_LENGTH), head.body().len()), (length.to_string().as_str(), Some(0)));
    let shown = site.files.answer(&Method::GET, "zoo/", "/a%3Cb%3E/zoo/?q=1", &HeaderMap::new()).unwrap();
    assert!(text(shown).contains("<h1>/a&#60;b&#62;/zoo/</h1>"));
}

#[test]
fn what_is_no_regular_file_is_not_there() {
    let site = Site::with(&[], |files| files.listing(true));
    rustix::fs::mknodat(rustix::fs::CWD, site.path("pipe"), rustix::fs::FileType::Fifo, 0o644.into(), 0).unwrap();
    let _socket = UnixListener::bind(site.path("socket")).unwrap();
    for path in ["pipe", "socket"] {
        assert_eq!(site.status(path, &[]), 404, "{path}");
    }
    assert!(!site.text("").contains("pipe"));
}

#[test]
fn what_may_not_be_read_is_forbidden() {
    let site = Site::new(&[("locked.txt", "x"), ("hello.txt", "x")]);
    settle();
    site.get("locked.txt");
    fs::set_permissions(site.path("locked.txt"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(site.path("locked.txt")).is_ok() {
        return; // Root may read everything.
    }
    assert_eq!(site.status("locked.txt", &[]), 403);
}

#[test]
fn a_directory_that_does_not_exist_is_named_at_start_up() {
    let site = Site::new(&[("file", "")]);
    for name in ["none", "file"] {
        let error = Files::dir(site.path(name)).check().unwrap_err();
        assert!(error.to_string().contains(&format!("site/{name}")), "{error}");
    }
    assert!(site.files.check().is_ok());
    let error = Files::dir(site.path("")).cache_control("a\nb").check().unwrap_err();
    assert!(error.to_string().contains("Cache-Control"), "{error}");
}

#[test]
fn what_users_sent_is_a_download_in_a_sandbox() {
    let site = Site::with(&[("index.html", "<script>f()</script>")], Files::untrusted);
    let answer = site.get("index.html");
    assert_eq!(field(&answer, header::CONTENT_DISPOSITION), "attachment");
    assert_eq!(field(&answer, header::CONTENT_SECURITY_POLICY), "default-src 'none'; sandbox");
    assert_eq!(site.status("", &[]), 404);
}

#[test]
fn all_threads_share_one() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&Files::dir("."));
}

#[test]
fn a_refusal_says_what_would_do() {
    let site = Site::new(&[("a.txt", "0123456789")]);
    let client = Client::new(App::new().files("/static", Files::dir(site.path(""))));
    let answer = client.request(Method::PUT, "/static/a.txt").send();
    assert_eq!((answer.status().as_u16(), answer.header("allow")), (405, Some("GET, HEAD, OPTIONS")));
    let refused = |path: &str| client.request(Method::GET, path).header("range", "bytes=10-").send();
    let answer = refused("/static/a.txt");
    assert_eq!((answer.status().as_u16(), answer.header("content-range")), (416, Some("bytes */10")));
    assert_eq!(refused("/static/b.txt").status(), 404);
}
