//! Unit tests of `http1::response`.

use http::HeaderValue;

use super::*;

const NOW: &[u8; DATE_LINE] = b"date: Mon, 30 Nov 2026 12:00:00 GMT\r\n";

fn head(headers: &[(http::HeaderName, &'static str)], length: ResponseLength, connection: Option<&str>) -> String {
    let pairs = headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value)));
    let mut out = Vec::new();
    let line = StatusLine { version_11: true, status: StatusCode::OK };
    let headers = pairs.collect();
    let fields = ResponseFields { headers: Some(&headers), ..ResponseFields::default() };
    write_head(&mut out, line, fields, length, connection, NOW);
    String::from_utf8(out).unwrap().replace("Mon, 30 Nov 2026 12:00:00 GMT", "now")
}

#[test]
fn the_server_frames_the_body_whatever_the_application_says() {
    let own = [(CONTENT_LENGTH, "7"), (TRANSFER_ENCODING, "chunked"), (CONNECTION, "keep-alive")];
    assert_eq!(
        head(&own, ResponseLength::Known(1_234_567_890), Some("close")),
        "HTTP/1.1 200 OK\r\ncontent-length: 1234567890\r\nconnection: close\r\ndate: now\r\n\r\n"
    );
    assert_eq!(
        head(&own, ResponseLength::Chunked, None),
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ndate: now\r\n\r\n"
    );
    assert_eq!(head(&own, ResponseLength::None, None), "HTTP/1.1 200 OK\r\ncontent-length: 7\r\ndate: now\r\n\r\n");
    assert_eq!(head(&[], ResponseLength::Known(0), None), "HTTP/1.1 200 OK\r\ncontent-length: 0\r\ndate: now\r\n\r\n");
}

#[test]
fn a_date_of_the_applications_own_stays() {
    let head = head(&[(DATE, "then")], ResponseLength::Close, None);
    assert_eq!(head, "HTTP/1.1 200 OK\r\ndate: then\r\n\r\n");
}
