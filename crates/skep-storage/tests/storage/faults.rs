//! An S3 server that dies, is away, or does not know us.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::stream;
use skep::test::Client;
use skep::{Body, Error};
use skep_storage::prelude::*;

use crate::odd::{self, whole};
use crate::promises::{PNG, add};
use crate::server::{SECRET, Server};

#[test]
#[ignore = "needs versitygw"]
fn a_server_that_dies_in_the_middle_leaves_no_half_file() {
    let server = Arc::new(Mutex::new(Server::start()));
    let client = server.lock().unwrap().client(SECRET);
    let dying = Arc::clone(&server);
    let failed = client.with_cx(async move |cx| {
        // Two parts arrive, and then nobody is there for the third.
        let number = RefCell::new(0);
        let pieces = stream::iter((0..192).map(move |_| {
            let mut number = number.borrow_mut();
            *number += 1;
            if *number == 170 {
                dying.lock().unwrap().stop();
            }
            Ok::<_, std::io::Error>(Bytes::from(vec![7; 64 << 10]))
        }));
        let file = NewFile::new("large.bin", "application/octet-stream", Body::from_stream(pieces));
        cx.store_file(file).await.map(drop)
    });
    assert_is_away(&failed.unwrap_err());
    server.lock().unwrap().start_again();
    let listed = std::fs::read_dir(server.lock().unwrap().files()).unwrap().flatten();
    let shards: Vec<_> = listed.map(|entry| entry.file_name()).filter(|name| name != "pending").collect();
    assert!(shards.is_empty(), "{shards:?}");
    // The application goes on as if nothing had been.
    assert_eq!(add(&client, "/files", ("a.png", "image/png", PNG)).text(), "1");
    assert_eq!(client.get("/files/1").body(), PNG);
}

fn assert_is_away(error: &Error) {
    assert_eq!(error.status(), 503);
    assert!(error.cause().unwrap().to_string().starts_with("the S3 server of storage.at: "), "{error:?}");
}

#[test]
#[ignore = "needs versitygw"]
fn a_server_that_is_away_is_a_503_and_comes_back() {
    let mut server = Server::start();
    let client = server.client(SECRET);
    add(&client, "/files", ("a.png", "image/png", PNG));
    server.stop();
    let answer = client.get("/files/1");
    assert_eq!((answer.status().as_u16(), answer.header("retry-after")), (503, Some("5")));
    let answer = add(&client, "/files", ("b.png", "image/png", PNG));
    assert_eq!((answer.status().as_u16(), answer.header("retry-after")), (503, Some("5")));
    server.start_again();
    assert_eq!(client.get("/files/1").body(), PNG);
}

#[test]
#[ignore = "needs versitygw"]
fn a_wrong_key_is_said_in_the_log_and_not_to_the_client() {
    let server = Server::start();
    let client = server.client("another-secret");
    let store = async |cx: &mut skep::Cx<'_>| cx.store_file(NewFile::new("a", "text/plain", "a")).await.map(drop);
    let error = client.with_cx(store).unwrap_err();
    let cause = error.cause().unwrap().to_string();
    assert_eq!((error.status().as_u16(), error.message()), (500, None));
    assert!(cause.starts_with("the S3 server refuses storage.access_key or storage.secret_key"), "{cause}");
    assert!(!cause.contains("another-secret"), "{cause}");
}

#[test]
#[ignore = "needs versitygw"]
fn a_bucket_that_is_not_there_is_said() {
    let server = Server::start();
    std::fs::remove_dir(server.folder().join("data/shop")).unwrap();
    let client = server.client(SECRET);
    let store = async |cx: &mut skep::Cx<'_>| cx.store_file(NewFile::new("a", "text/plain", "a")).await.map(drop);
    let error = client.with_cx(store).unwrap_err();
    assert!(error.cause().unwrap().to_string().starts_with("storage.at: no such bucket"), "{error:?}");
}

/// A file that the server is said to have.
fn known(size: u64) -> FileRecord {
    let record = serde_json::json!({
        "key": "0123456789abcdef0123456789abcdef", "name": "a", "type": "text/plain", "size": size, "sha256": "0",
        "stored": 0,
    });
    serde_json::from_value(record).unwrap()
}

#[test]
fn a_server_that_stops_within_a_response_is_not_waited_for() {
    // Without an entity tag, what is missing is not asked for again.
    let client = odd::client(|_| {
        let head = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-9/10\r\nContent-Length: 10";
        format!("{head}\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n\r\nhalf")
    });
    let read = async |cx: &mut skep::Cx<'_>| Ok(cx.storage().read(&known(10)).await?.collect(100).await);
    let problem = format!("{:?}", client.with_cx(read).unwrap().unwrap_err());
    assert!(problem.contains("no byte came for 200ms (storage.timeout)"), "{problem}");
}

/// What becomes of a file of 6 MiB, in two parts.
fn store(client: &Client) -> Error {
    let store = async |cx: &mut skep::Cx<'_>| {
        let pieces = stream::iter((0..96).map(|_| Ok::<_, std::io::Error>(Bytes::from(vec![7; 64 << 10]))));
        cx.store_file(NewFile::new("a", "text/plain", Body::from_stream(pieces))).await.map(drop)
    };
    client.with_cx(store).unwrap_err()
}

#[test]
fn what_the_server_never_takes_is_no_503() {
    type Respond = fn(&str) -> String;
    let responses: [(Respond, u16); 4] = [
        (|_| whole("400 Bad Request", "<Code>InvalidBucketName</Code>"), 500),
        (|_| whole("301 Moved Permanently", "<Code>PermanentRedirect</Code>"), 500),
        (|_| whole("400 Bad Request", "<Code>RequestTimeout</Code>"), 503),
        (|_| whole("500 Internal Server Error", "<Code>InternalError</Code>"), 503),
    ];
    for (response, status) in responses {
        let error = store(&odd::client(response));
        let (said, cause) = (response(""), error.cause().unwrap().to_string());
        assert_eq!(error.status(), status, "{cause}");
        assert!(cause.contains(said.lines().last().unwrap()), "{cause}");
    }
}

#[test]
fn an_upload_that_the_server_has_forgotten_is_no_404() {
    let error = store(&odd::client(|request| match request {
        part if part.contains("partnumber=") => whole("404 Not Found", "<Code>NoSuchUpload</Code>"),
        begun if begun.contains("?uploads") => {
            let names = "<Bucket>shop</Bucket><Key>a</Key><UploadId>1</UploadId>";
            whole("200 OK", &format!("<InitiateMultipartUploadResult>{names}</InitiateMultipartUploadResult>"))
        }
        _ => whole("200 OK", ""),
    }));
    assert_eq!(error.status(), 500);
    assert!(error.cause().unwrap().to_string().contains("NoSuchUpload"), "{error:?}");
}
