//! Compressed siblings (RFC 9110, 12.5.3).

use std::time::SystemTime;

use super::*;

fn site() -> Site {
    let site = Site::new(&[
        ("all.css", "plain"),
        ("all.css.br", "br"),
        ("all.css.zst", "zst"),
        ("all.css.gz", "gz"),
        ("one.css", "plain"),
        ("one.css.gz", "gz"),
        ("none.css", "plain"),
        ("photo.png", "plain"),
        ("photo.png.gz", "gz"),
    ]);
    settle();
    site
}

#[test]
fn accept_encoding_chooses_among_what_is_there() {
    let site = site();
    for round in ["from the disk", "from memory"] {
        for (accept, all, one) in [
            ("", "plain", "plain"),
            ("gzip", "gz", "gz"),
            ("br", "br", "plain"),
            ("zstd, gzip", "zst", "gz"),
            ("gzip, deflate, br, zstd", "br", "gz"),
            ("br;q=0.1, gzip;q=0.9", "gz", "gz"),
            ("*", "br", "gz"),
            ("*;q=0, zstd", "zst", "406"),
            ("br;q=0, *", "zst", "gz"),
            ("identity", "plain", "plain"),
            ("identity;q=0, br", "br", "406"),
            ("identity;q=0, *", "br", "gz"),
            ("gzip;q=0", "plain", "plain"),
            ("*;q=0", "406", "406"),
        ] {
            for (path, expected) in [("all.css", all), ("one.css", one)] {
                let answer = site.ask(&Method::GET, path, &headers(&[(header::ACCEPT_ENCODING, accept)]));
                let got = answer.map_or_else(|error| error.status().as_str().to_owned(), text);
                assert_eq!(got, expected, "{path}, {accept:?}, {round}");
            }
        }
    }
}

#[test]
fn the_client_weighs_and_ties_go_to_the_smaller() {
    let site = site();
    assert_eq!(site.text("all.css"), "plain");
    for (accept, expected) in [
        ("x-gzip", "gz"),
        ("GZIP", "gz"),
        ("gzip, br, zstd", "br"),
        ("br;q=0.5, gzip;q=0.8", "gz"),
        ("br;q=0.001", "br"),
        ("br;q=0, gzip;q=0", "plain"),
        ("identity, br;q=0.5", "plain"),
        ("*, br;q=0", "zst"),
        ("*;q=0, identity", "plain"),
        ("*;q=0, gzip;q=0.1", "gz"),
        ("identity;q=0", "406"),
        ("identity;q=0, zstd;q=0.2", "zst"),
        ("deflate, compress", "plain"),
        ("br;q=2, gzip", "gz"),
        ("br;q=1.000", "br"),
        ("br;q=1.001", "plain"),
        ("br ; q=0.9 , gzip ;q=0.95", "gz"),
        ("br;q=0.1234", "plain"),
    ] {
        let answer = site.ask(&Method::GET, "all.css", &headers(&[(header::ACCEPT_ENCODING, accept)]));
        let got = answer.map_or_else(|error| error.status().as_str().to_owned(), text);
        assert_eq!(got, expected, "{accept:?}");
    }
}

#[test]
fn what_is_compressed_in_itself_has_no_siblings() {
    for (names, expected) in [
        (["a.css", "a.svg", "a.json", "a.wasm", "a", "a.atom", "a.ttf"].as_slice(), "gz"),
        (["a.png", "a.woff2", "a.mp4", "b.gz", "a.docx", "a.epub"].as_slice(), "plain"),
    ] {
        for name in names {
            let site = Site::new(&[(name, "plain"), (&format!("{name}.gz"), "gz")]);
            assert_eq!(text(site.get_with(name, &[(header::ACCEPT_ENCODING, "gzip")])), expected, "{name}");
        }
    }
}

#[test]
fn each_form_is_labelled_and_has_a_tag_of_its_own() {
    let site = site();
    let mut tags = Vec::new();
    for (accept, encoding) in [("br", "br"), ("zstd", "zstd"), ("gzip", "gzip"), ("identity", "")] {
        let answer = site.get_with("all.css", &[(header::ACCEPT_ENCODING, accept)]);
        assert_eq!(field(&answer, header::CONTENT_ENCODING), encoding);
        assert_eq!(field(&answer, header::CONTENT_TYPE), "text/css; charset=utf-8");
        assert_eq!(field(&answer, header::VARY), "accept-encoding");
        assert!(is_from_memory(&answer));
        let tag = etag(&answer);
        assert!(!tags.contains(&tag));
        let fields = [(header::ACCEPT_ENCODING, accept), (header::IF_NONE_MATCH, &tag)];
        assert_eq!(site.status("all.css", &fields), 304);
        assert_eq!(
            site.status("all.css", &[(header::ACCEPT_ENCODING, "x"), (header::IF_NONE_MATCH, &tags.join(","))]),
            200
        );
        tags.push(tag);
    }
    for path in ["none.css", "photo.png"] {
        let answer = site.get_with(path, &[(header::ACCEPT_ENCODING, "gzip")]);
        assert_eq!((field(&answer, header::VARY), field(&answer, header::CONTENT_ENCODING)), ("", ""), "{path}");
        assert_eq!(text(answer), "plain");
    }
}

#[test]
fn a_range_is_one_of_the_form_that_was_chosen() {
    let site = site();
    let gzip = (header::ACCEPT_ENCODING, "gzip");
    let tag = etag(&site.get_with("all.css", std::slice::from_ref(&gzip)));
    let part = site.get_with("all.css", &[gzip.clone(), (header::RANGE, "bytes=1-"), (header::IF_RANGE, &tag)]);
    assert_eq!((part.status().as_u16(), field(&part, header::CONTENT_ENCODING)), (206, "gzip"));
    assert_eq!(field(&part, header::CONTENT_RANGE), "bytes 1-1/2");
    assert_eq!(text(part), "z");
    // What was begun in one form is not gone on with in another.
    let other = site.get_with("all.css", &[(header::RANGE, "bytes=1-"), (header::IF_RANGE, &tag)]);
    assert_eq!((other.status().as_u16(), text(other).as_str()), (200, "plain"));
}

#[test]
fn a_compressed_file_by_its_own_name_is_just_a_file() {
    let site = site();
    let answer = site.get_with("all.css.gz", &[(header::ACCEPT_ENCODING, "gzip")]);
    assert_eq!(
        (field(&answer, header::CONTENT_TYPE), field(&answer, header::CONTENT_ENCODING)),
        ("application/gzip", "")
    );
    assert_eq!(text(answer), "gz");
}

#[test]
fn a_sibling_older_than_the_file_is_not_sent() {
    let site = site();
    let gzip = [(header::ACCEPT_ENCODING, "gzip")];
    assert_eq!(text(site.get_with("one.css", &gzip)), "gz");
    fs::write(site.path("one.css"), "newer").unwrap();
    assert_eq!(text(site.get_with("one.css", &gzip)), "newer", "though the sibling was held");
    settle();
    assert_eq!(text(site.get_with("one.css", &gzip)), "newer");
    let sibling = fs::File::options().append(true).open(site.path("one.css.gz")).unwrap();
    sibling.set_modified(SystemTime::now() + Duration::from_secs(5)).unwrap();
    fs::write(site.path("one.css"), "newest").unwrap();
    assert_eq!(text(site.get_with("one.css", &gzip)), "gz");
}

#[test]
fn a_sibling_that_goes_is_not_sent_from_memory() {
    let site = site();
    let gzip = [(header::ACCEPT_ENCODING, "gzip")];
    assert_eq!(text(site.get_with("one.css", &gzip)), "gz");
    fs::remove_file(site.path("one.css.gz")).unwrap();
    let answer = site.get_with("one.css", &gzip);
    assert_eq!(field(&answer, header::VARY), "");
    assert_eq!(text(answer), "plain");
}

#[test]
fn siblings_are_left_alone_on_request() {
    let site = Site::with(&[("one.css", "plain"), ("one.css.gz", "gz")], |files| files.precompressed(false));
    let answer = site.get_with("one.css", &[(header::ACCEPT_ENCODING, "gzip")]);
    assert_eq!(field(&answer, header::VARY), "");
    assert_eq!(text(answer), "plain");
}
