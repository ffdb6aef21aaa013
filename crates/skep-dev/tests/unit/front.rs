//! Unit tests of `front`: the proxy between real sockets, with a scripted application.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;
use crate::state::News;

/// A proxy, and where the application accepts.
async fn proxy() -> (SocketAddr, TcpListener) {
    proxy_with(None).await
}

async fn proxy_with(tls: Option<Tls>) -> (SocketAddr, TcpListener) {
    let (front, application) =
        (TcpListener::bind("127.0.0.1:0").await.unwrap(), TcpListener::bind("127.0.0.1:0").await.unwrap());
    let news = Arc::new(News::new(7));
    news.served();
    let (listen, address) = (front.local_addr().unwrap(), application.local_addr().unwrap());
    let upstream = Upstream { address, tls };
    let proxy = Front {
        origin: Origin { listen, is_safe: upstream.tls.is_some() },
        program: Program::new("/nowhere/shop".into(), listen, &upstream, &[]),
        upstream,
        news,
        editor: Editor::new("edit:{file}").unwrap(),
        workspace: "/".into(),
        name: "shop".to_owned(),
        nonce: "n".to_owned(),
    };
    tokio::spawn(Arc::new(proxy).serve(front));
    (listen, application)
}

async fn send(address: SocketAddr, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Reads until this was read.
async fn until(stream: &mut (impl AsyncReadExt + Unpin), end: &str) -> String {
    let mut text = Vec::new();
    while !String::from_utf8_lossy(&text).contains(end) {
        let mut piece = [0; 1024];
        let count = stream.read(&mut piece).await.unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&text));
        text.extend_from_slice(&piece[..count]);
    }
    String::from_utf8(text).unwrap()
}

/// Accepts a request, and writes this.
async fn respond(application: &TcpListener, response: &str) -> (TcpStream, String) {
    let (mut stream, _) = application.accept().await.unwrap();
    let request = until(&mut stream, "\r\n\r\n").await;
    stream.write_all(response.as_bytes()).await.unwrap();
    (stream, request)
}

#[tokio::test]
async fn a_page_gets_the_script_and_the_right_length() {
    let (proxy, application) = proxy().await;
    for (response, length) in [
        (
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: \"a\"\r\nContent-Length: 14\r\n\r\n<p>hi</p></bod",
            Some(14),
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n<p>hi</p>\r\n0\r\n\r\n",
            None,
        ),
    ] {
        let mut client = send(
            proxy,
            "GET / HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\nIf-None-Match: \"a\"\r\nConnection: close\r\n\r\n",
        )
        .await;
        let (_open, request) = respond(&application, response).await;
        assert!(request.contains("accept-encoding: identity") && !request.contains("if-none-match"), "{request}");
        let mut page = String::new();
        client.read_to_string(&mut page).await.unwrap();
        let tag = "<script src=\"/-/dev/reload.js\" nonce=\"n\" data-version=\"8\" data-styles=\"0\"></script>";
        assert!(page.contains(tag) && page.contains("cache-control: no-store") && !page.contains("etag"), "{page}");
        assert_eq!(
            length.map(|length| page.contains(&format!("content-length: {}\r\n", length + tag.len()))),
            length.map(|_| true)
        );
    }
}

#[tokio::test]
async fn what_is_no_page_passes_unchanged() {
    let (proxy, application) = proxy().await;
    let mut client = send(proxy, "GET /a HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n").await;
    let whole = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: \"a\"\r\nContent-Length: 9\r\n\r\n<p>hi</p>";
    respond(&application, whole).await;
    let text = until(&mut client, "<p>hi</p>").await;
    assert!(text.contains("etag: \"a\"") && !text.contains("script"), "{text}");
    // The same connection of the client, another one to the application; a body each way.
    client.write_all(b"POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody").await.unwrap();
    let (mut stream, _) = application.accept().await.unwrap();
    let request = until(&mut stream, "body").await;
    assert!(request.starts_with("POST /b HTTP/1.1\r\n") && request.contains("content-length: 4"), "{request}");
    stream.write_all(b"HTTP/1.1 303 See Other\r\nLocation: /c\r\nContent-Length: 0\r\n\r\n").await.unwrap();
    assert!(until(&mut client, "\r\n\r\n").await.contains("location: /c"));
}

#[tokio::test]
async fn events_pass_one_by_one() {
    let (proxy, application) = proxy().await;
    let mut client = send(proxy, "GET /events HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    let (mut stream, _) = respond(&application, head).await;
    for event in ["data: 1\n\n", "data: 2\n\n"] {
        stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).await.unwrap();
        until(&mut client, event).await;
    }
    // The browser goes away, and so does the request.
    drop(client);
    let mut rest = [0; 16];
    assert!(matches!(stream.read(&mut rest).await, Ok(0) | Err(_)));
}

#[tokio::test]
async fn a_websocket_is_a_stream_of_bytes_both_ways() {
    let (proxy, application) = proxy().await;
    let upgrade = "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n";
    let mut client =
        send(proxy, &format!("GET /ws HTTP/1.1\r\nHost: a\r\n{upgrade}Sec-WebSocket-Key: k\r\n\r\n")).await;
    let accepted = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n";
    let (mut stream, request) = respond(&application, accepted).await;
    assert!(request.contains("upgrade: websocket") && request.contains("sec-websocket-key: k"), "{request}");
    let head = until(&mut client, "\r\n\r\n").await;
    assert!(head.starts_with("HTTP/1.1 101 ") && head.contains("sec-websocket-accept: x"), "{head}");
    client.write_all(b"to the application").await.unwrap();
    until(&mut stream, "to the application").await;
    stream.write_all(b"to the browser").await.unwrap();
    until(&mut client, "to the browser").await;
}

#[tokio::test]
async fn an_application_that_closes_is_a_bad_gateway() {
    let (proxy, application) = proxy().await;
    let mut client = send(proxy, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    drop(application.accept().await.unwrap());
    assert!(until(&mut client, "\r\n\r\n").await.starts_with("HTTP/1.1 502 "));
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn with_tls_both_connections_are_encrypted_and_plain_ones_are_led_there() {
    let (data, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let tls = Tls::in_folders(data.path(), own.path()).unwrap();
    let (proxy, application) = proxy_with(Some(tls.clone())).await;
    let mut browser = Upstream { address: proxy, tls: Some(tls.clone()) }.connect().await.unwrap();
    let request = format!("GET / HTTP/1.1\r\nHost: {proxy}\r\nConnection: close\r\n\r\n");
    browser.write_all(request.as_bytes()).await.unwrap();
    let mut accepted = tls.accept(application.accept().await.unwrap().0).await.unwrap();
    until(&mut accepted, "\r\n\r\n").await;
    let fields = "Strict-Transport-Security: max-age=1\r\nContent-Length: 2\r\n\r\nhi";
    accepted.write_all(format!("HTTP/1.1 200 OK\r\n{fields}").as_bytes()).await.unwrap();
    let response = until(&mut browser, "hi").await;
    assert!(response.starts_with("HTTP/1.1 200 OK") && !response.contains("transport"), "{response}");
    // Pages of our own know which origin is theirs.
    for (origin, status) in [(format!("https://{proxy}"), "200"), (format!("http://{proxy}"), "403")] {
        let mut browser = Upstream { address: proxy, tls: Some(tls.clone()) }.connect().await.unwrap();
        let request = format!("GET /-/dev/page.css HTTP/1.1\r\nHost: {proxy}\r\nOrigin: {origin}\r\n\r\n");
        browser.write_all(request.as_bytes()).await.unwrap();
        assert!(until(&mut browser, "\r\n\r\n").await.starts_with(&format!("HTTP/1.1 {status}")), "{origin}");
    }
    let mut plain = send(proxy, "GET /a?b HTTP/1.1\r\nHost: localhost:1\r\n\r\n").await;
    let response = until(&mut plain, "\r\n\r\n").await;
    assert!(
        response.starts_with("HTTP/1.1 307") && response.contains("location: https://localhost:1/a?b"),
        "{response}"
    );
}
