//! Unit tests of `endpoint::violations`.

use super::*;

#[test]
fn both_forms_of_reports_are_read() {
    let old = br#"{"csp-report":{"document-uri":"https://a.example/","violated-directive":"img-src","blocked-uri":"https://b.example","source-file":"https://a.example/x.js","line-number":7}}"#;
    let new = br#"[{"type":"deprecation"},{"type":"csp-violation","body":{"documentURL":"https://a.example/","effectiveDirective":"img-src","blockedURL":"https://b.example","sourceFile":"https://a.example/x.js","lineNumber":7}}]"#;
    let expected = Report {
        page: "https://a.example/".into(),
        directive: "img-src".into(),
        blocked: "https://b.example".into(),
        place: "https://a.example/x.js:7".into(),
    };
    assert_eq!(read(old).unwrap(), [expected]);
    assert_eq!(read(new), read(old));
    assert_eq!(read(b"{\"csp-report\":3}").unwrap(), [Report::default()]);
    for wrong in [&b""[..], b"3", b"{}", b"[1"] {
        assert_eq!(read(wrong), None);
    }
}
