//! Unit tests of `remote`.

use http::header::{ETAG, IF_NONE_MATCH, RANGE};

use super::*;

fn answer(file: &RemoteFile, asked: &[(http::HeaderName, &'static str)]) -> (u16, Option<HeaderValue>) {
    let asked = asked.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value)));
    let (response, _) = file.answer(&Method::GET, &asked.collect()).unwrap();
    (response.status().as_u16(), response.headers().get(ETAG).cloned())
}

#[test]
fn a_file_has_the_tag_it_was_given_and_none_without() {
    let file = RemoteFile::new("a.txt", "text/plain", 13);
    for tag in ["", "\" \r\n"] {
        let file = file.clone().tag(tag);
        assert_eq!(answer(&file, &[(IF_NONE_MATCH, "\"\"")]), (200, None), "each version would have the same one");
        assert_eq!(answer(&file, &[(RANGE, "bytes=1-2")]), (206, None));
    }
    for (tag, expected) in [("a-b", "\"a-b\""), ("ab", "\"ab\""), ("W/+=!~ü", "\"W/+=!~ü\""), ("a \"b\"", "\"ab\"")] {
        let expected = HeaderValue::from_str(expected).unwrap();
        assert_eq!(answer(&file.clone().tag(tag), &[]), (200, Some(expected)), "{tag}");
    }
    assert_eq!(answer(&file.clone().tag("a-b"), &[(IF_NONE_MATCH, "\"a-b\"")]).0, 304);
    assert_eq!(answer(&file.tag("a-b"), &[(IF_NONE_MATCH, "\"ab\"")]).0, 200);
}
