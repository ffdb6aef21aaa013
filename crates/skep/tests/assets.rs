//! What `assets!` promises. The folder is `tests/site`.

use skep::files::{Asset, Files};
use skep::{Body, HeaderMap, HeaderName, HeaderValue, Method, Response, header};

skep::assets!(pub(crate) Site = "tests/site" at "/static");

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
        assert_eq!(answer.headers()[header::CACHE_CONTROL], "public, max-age=31536000, immutable");
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
