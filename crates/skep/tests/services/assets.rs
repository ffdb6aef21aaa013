//! What `assets!` promises. The folder is `tests/site`.

use std::path::Path;

use skep::files::{Asset, Assets, EmbeddedFile, Files};
use skep::{Body, HeaderMap, HeaderName, HeaderValue, Method, Response, header};

skep::assets!(pub(crate) Site = "tests/site" at "/static");

const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// As a build made them.
static BUILT: [EmbeddedFile; 1] = [EmbeddedFile {
    name: "css/site.css",
    hashed_name: "css/site.01234567.css",
    url: "/static/css/site.01234567.css",
    hash: "0123456789abcdef",
    bytes: b"a { color: red }",
    brotli: Some(b"by brotli"),
    gzip: None,
}];

fn built(folder: &Path) -> Files {
    Assets::of(Some("/static"), Some(folder.to_str().unwrap().to_owned().leak()), &BUILT).into()
}

fn fields(fields: &[(HeaderName, &'static str)]) -> HeaderMap {
    fields.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
}

fn get(files: &Files, path: &str, headers: &HeaderMap) -> Result<Response, u16> {
    let full = format!("/static/{path}");
    files.answer(&Method::GET, path, &full, headers).map_err(|error| error.status().as_u16())
}

fn rest(asset: Asset) -> &'static str {
    asset.url().strip_prefix("/static/").unwrap()
}

fn whole(body: &Body) -> &[u8] {
    body.as_whole().expect("assets are in memory")
}

#[test]
fn every_file_is_a_constant_that_links_to_it() {
    let files = Site::files();
    assert_eq!(Site::assets().iter().count(), 7);
    for asset in Site::assets().iter() {
        let answer = get(&files, rest(asset), &HeaderMap::new()).unwrap();
        assert_eq!(whole(answer.body()), asset.bytes(), "{asset}");
        assert_eq!(answer.headers()[header::CONTENT_TYPE], asset.content_type());
        let kept = if cfg!(debug_assertions) { "no-cache" } else { IMMUTABLE };
        assert_eq!(answer.headers()[header::CACHE_CONTROL], kept);
    }
    assert_eq!(Site::HELLO_TXT.bytes(), b"Hello, world!");
    assert_eq!(Site::CSS_SITE_CSS.name(), "css/site.css");
    assert_eq!(Site::_404_HTML.content_type(), "text/html; charset=utf-8");
    assert_eq!(Site::TWO_WORDS_TXT.url().split('.').next(), Some("/static/two%20words"));
}

#[test]
fn the_link_has_a_hash_of_the_content_in_it() {
    let url = Site::STYLE_CSS.url();
    let hash = url.strip_prefix("/static/style.").and_then(|rest| rest.strip_suffix(".css")).unwrap();
    assert!(hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{url}");
    assert!(Site::CSS_SITE_CSS.url().contains(hash), "the same content has the same hash");
    assert_eq!(Site::STYLE_CSS.to_string(), url);
}

#[test]
fn plain_names_are_asked_about_each_time() {
    let files = Site::files();
    let answer = get(&files, "style.css", &HeaderMap::new()).unwrap();
    assert_eq!(answer.headers()[header::CACHE_CONTROL], "no-cache");
    assert_eq!(answer.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
    assert!(!answer.headers().contains_key(header::LAST_MODIFIED));
    let mut again = HeaderMap::new();
    again.insert(header::IF_NONE_MATCH, answer.headers()[header::ETAG].clone());
    assert_eq!(get(&files, "style.css", &again).unwrap().status(), 304);
    let files = files.cache_control("max-age=60");
    assert_eq!(get(&files, "style.css", &again).unwrap().headers()[header::CACHE_CONTROL], "max-age=60");
}

#[test]
fn what_shrinks_is_there_compressed() {
    let files = Site::files();
    let mut tags = Vec::new();
    for (accept, encoding) in [("br, gzip", Some("br")), ("gzip", Some("gzip")), ("identity", None), ("zstd", None)] {
        let answer = get(&files, "style.css", &fields(&[(header::ACCEPT_ENCODING, accept)])).unwrap();
        assert_eq!(answer.headers().get(header::CONTENT_ENCODING).map(|value| value.to_str().unwrap()), encoding);
        assert_eq!(answer.headers()[header::VARY], "accept-encoding");
        assert_eq!(whole(answer.body()).len() < Site::STYLE_CSS.bytes().len(), encoding.is_some());
        tags.push(answer.headers()[header::ETAG].clone());
    }
    assert!(tags[0] != tags[1] && tags[1] != tags[2] && tags[2] == tags[3]);
    for path in ["dot.png", "hello.txt"] {
        let answer = get(&files, path, &fields(&[(header::ACCEPT_ENCODING, "br, gzip")])).unwrap();
        assert!(!answer.headers().contains_key(header::VARY), "{path} does not shrink");
    }
}

#[test]
fn ranges_head_and_refusals_are_those_of_a_directory() {
    let files = Site::files();
    let answer = get(&files, "hello.txt", &fields(&[(header::RANGE, "bytes=7-11")])).unwrap();
    assert_eq!((answer.status().as_u16(), whole(answer.body())), (206, &b"world"[..]));
    let answer = files.answer(&Method::HEAD, "hello.txt", "/static/hello.txt", &HeaderMap::new()).unwrap();
    assert_eq!((&answer.headers()[header::CONTENT_LENGTH], answer.body().len()), (&HeaderValue::from(13), Some(0)));
    for path in [".hidden", "%2ehidden", "../assets.rs", "none", "docs/none", "style.00000000.css", "", "css/"] {
        assert_eq!(get(&files, path, &HeaderMap::new()).map(|_| ()), Err(404), "{path}");
    }
    let answer = get(&files, "docs", &HeaderMap::new()).unwrap();
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()[header::LOCATION]),
        (308, &HeaderValue::from_static("/static/docs/"))
    );
    assert_eq!(whole(get(&files, "docs/", &HeaderMap::new()).unwrap().body()), Site::DOCS_INDEX_HTML.bytes());
}

#[test]
fn the_prefix_of_the_links_is_known_where_they_are_mounted() {
    assert_eq!(Files::from(Site).prefix(), Some("/static"));
    assert_eq!(Files::from(skep::assets!("tests/site")).prefix(), None);
    assert_eq!(Files::dir(".").prefix(), None);
}

#[test]
fn a_debug_build_serves_what_was_edited() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("css/site.css");
    std::fs::create_dir(folder.path().join("css")).unwrap();
    std::fs::write(&file, BUILT[0].bytes).unwrap();
    let files = built(folder.path());
    let brotli = fields(&[(header::ACCEPT_ENCODING, "br")]);
    for name in ["css/site.01234567.css", "css/site.css"] {
        std::fs::write(&file, BUILT[0].bytes).unwrap();
        let before = get(&files, name, &brotli).unwrap();
        assert_eq!((before.status().as_u16(), whole(before.body())), (200, &b"by brotli"[..]), "it is as it was built");
        let mut again = brotli.clone();
        again.insert(header::IF_NONE_MATCH, before.headers()[header::ETAG].clone());
        assert_eq!(get(&files, name, &again).unwrap().status(), 304);
        for edit in ["a { color: blue }", "a { color: pink }"] {
            std::fs::write(&file, edit).unwrap();
            let after = get(&files, name, &again).unwrap();
            assert_eq!((after.status().as_u16(), whole(after.body())), (200, edit.as_bytes()));
            assert_eq!(after.headers()[header::CACHE_CONTROL], "no-cache", "the hash in the name may be an old one");
            assert!(!after.headers().contains_key(header::CONTENT_ENCODING));
            assert_eq!(after.headers()[header::VARY], "accept-encoding");
            again.insert(header::IF_NONE_MATCH, after.headers()[header::ETAG].clone());
            assert_eq!(get(&files, name, &again).unwrap().status(), 304);
        }
    }
    assert_eq!(get(&files, "css/", &HeaderMap::new()).map(|_| ()), Err(404));
    std::fs::write(folder.path().join("new.css"), "new").unwrap();
    assert_eq!(get(&files, "new.css", &HeaderMap::new()).map(|_| ()), Err(404), "only a build adds names");
}

#[test]
fn what_cannot_be_read_is_served_as_it_was_built() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("css")).unwrap();
    let file = folder.path().join("css/site.css");
    let files = built(folder.path());
    let plain = |files: &Files| {
        let answer = get(files, "css/site.01234567.css", &HeaderMap::new()).unwrap();
        (whole(answer.body()).to_vec(), answer.headers()[header::CACHE_CONTROL].to_str().unwrap().to_owned())
    };
    let embedded = |kept: &str| (BUILT[0].bytes.to_vec(), kept.to_owned());
    assert_eq!(plain(&files), embedded("no-cache"), "an editor is replacing the file");
    let outside = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&outside, "secret").unwrap();
    std::os::unix::fs::symlink(&outside, &file).unwrap();
    assert_eq!(plain(&files), embedded("no-cache"), "a link that leads out");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert_eq!(plain(&files), embedded("no-cache"), "no file");
    // The executable was copied to another machine.
    assert_eq!(plain(&built(&folder.path().join("none"))), embedded(IMMUTABLE));
    assert_eq!(plain(&Assets::of(Some("/static"), None, &BUILT).into()), embedded(IMMUTABLE), "a release build");
}
