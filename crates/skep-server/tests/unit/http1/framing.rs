//! Unit tests of `http1::framing`.

use http::header::{CONTENT_LENGTH, HOST, HeaderName, TRANSFER_ENCODING};

use super::*;

fn framing(fields: &[(HeaderName, &str)]) -> Validated<(BodyLength, bool)> {
    let mut framing = Framing::new(true);
    for (name, value) in fields {
        framing.note(name.as_str().as_bytes(), value.as_bytes(), b"")?;
    }
    Ok((framing.body()?, framing.keeps_alive()))
}

const HERE: (HeaderName, &str) = (HOST, "x");

#[test]
fn a_body_has_one_length() {
    assert_eq!(framing(&[HERE]), Ok((BodyLength::Known(0), true)));
    assert_eq!(framing(&[HERE, (CONTENT_LENGTH, "007")]), Ok((BodyLength::Known(7), true)));
    assert_eq!(framing(&[HERE, (TRANSFER_ENCODING, "Chunked")]), Ok((BodyLength::Chunked, true)));
    for doubtful in [
        &[(CONTENT_LENGTH, "1"), (CONTENT_LENGTH, "1")][..],
        &[(CONTENT_LENGTH, "1"), (TRANSFER_ENCODING, "chunked")],
        &[(TRANSFER_ENCODING, "chunked"), (TRANSFER_ENCODING, "chunked")],
        &[(CONTENT_LENGTH, "+1")],
        &[(CONTENT_LENGTH, "")],
        &[(CONTENT_LENGTH, "1, 1")],
        &[(CONTENT_LENGTH, "99999999999999999999")],
    ] {
        let fields: Vec<_> = [&[HERE][..], doubtful].concat();
        assert_eq!(framing(&fields).unwrap_err().status, StatusCode::BAD_REQUEST, "{doubtful:?}");
    }
    assert_eq!(framing(&[HERE, (TRANSFER_ENCODING, "gzip, chunked")]).unwrap_err().status, 501);
    assert_eq!(Framing::new(false).note(b"Transfer-Encoding", b"chunked", b"").unwrap_err().status, 400);
}

#[test]
fn a_request_has_one_host() {
    assert_eq!(framing(&[]).unwrap_err().message, "there is no Host field");
    assert_eq!(framing(&[HERE, HERE]).unwrap_err().message, "there are two Host fields");
    assert_eq!(framing(&[(HOST, "a:b")]).unwrap_err().message, "Host is not the name of a host");
    assert_eq!(Framing::new(false).body(), Ok(BodyLength::Known(0)), "HTTP/1.0 has none");
}

#[test]
fn a_connection_goes_on_as_its_version_does() {
    let keeps = |version_11, value: &str| {
        let mut framing = Framing::new(version_11);
        framing.note(b"connection", value.as_bytes(), b"").unwrap();
        framing.keeps_alive()
    };
    assert!(
        keeps(true, "") && keeps(true, "keep-alive") && !keeps(true, "TE, Close") && !keeps(true, "close,keep-alive")
    );
    assert!(!keeps(false, "") && keeps(false, "Keep-Alive") && !keeps(false, "keep-alive, close"));
}
