//! Tests of `websocket::handshake`.

use super::*;

#[test]
fn the_answer_to_a_key_is_that_of_the_standard() {
    let request = http::Request::get("/").header(UPGRADE, "WebSocket").header(CONNECTION, "keep-alive, Upgrade");
    let request = request.header(SEC_WEBSOCKET_VERSION, "13");
    let request = request.header(SEC_WEBSOCKET_KEY, "dGhlIHNhbXBsZSBub25jZQ==").body(()).unwrap();
    let answer = accept(&request.into_parts().0.into()).unwrap();
    assert_eq!(answer.unwrap(), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

#[test]
fn the_first_of_our_protocols_that_is_offered_is_chosen() {
    let chosen = |fields: &[&str]| {
        let request = fields
            .iter()
            .fold(http::Request::get("/"), |request, field| request.header(SEC_WEBSOCKET_PROTOCOL, *field));
        choose(&["v2", "v1"], &request.body(()).unwrap().into_parts().0.into())
    };
    assert_eq!(chosen(&["v0, v1,v2"]), Some("v2"));
    assert_eq!(chosen(&["v0", " v1 "]), Some("v1"));
    assert_eq!(chosen(&["V2", "", "v1;"]), None);
    assert_eq!(chosen(&[]), None);
}
