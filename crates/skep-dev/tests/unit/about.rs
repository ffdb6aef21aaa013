//! Unit tests of `about`, with a scripted application.

use std::net::Ipv4Addr;

use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use super::*;

#[tokio::test]
async fn a_page_is_there_unless_nothing_answers() {
    let application = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let upstream = Upstream { address: application.local_addr().unwrap(), tls: None };
    for (status, is_page) in [
        ("200 OK", true),
        ("303 See Other", false),
        ("403 Forbidden", true),
        ("404 Not Found", false),
        ("502 Bad", false),
    ] {
        let respond = async {
            let (mut stream, _) = application.accept().await.unwrap();
            let mut request = [0; 1024];
            let count = stream.read(&mut request).await.unwrap();
            assert!(request[..count].starts_with(b"GET /-/mails HTTP/1.1\r\n"));
            stream.write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").as_bytes()).await.unwrap();
        };
        let (there, ()) = tokio::join!(is_there(&upstream, "/-/mails"), respond);
        assert_eq!(there, is_page, "{status}");
    }
    drop(application);
    assert!(!is_there(&upstream, "/-/mails").await);
}
