//! The driver `memcached` against a server that misbehaves: every call ends with the timeout.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

use skep_cache::{Clock, Driver, Memcached};

use crate::process::on_runtime;

/// A server that says who it is and then, to the first request of each connection, what `answer` does.
fn server(answer: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = std::sync::Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, answer) = (stream.unwrap(), answer.clone());
            std::thread::spawn(move || {
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                // Gone already, if the test has ended.
                let Some(Ok(first)) = lines.next() else { return };
                assert_eq!(first, "version");
                stream.write_all(b"VERSION 1.6.18\r\n").unwrap();
                let Some(Ok(_)) = lines.next() else { return };
                answer(&mut stream);
                // Open until the client closes.
                while let Some(Ok(_)) = lines.next() {}
            });
        }
    });
    port
}

fn driver(port: u16) -> Memcached {
    let limit = Duration::from_millis(200);
    let server = Memcached::builder().server(format!("127.0.0.1:{port}"), 1);
    server.timeout(limit).connect_timeout(limit).build().unwrap()
}

/// The error of one read, which must come within the time limit.
fn fails(answer: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> String {
    let driver = driver(server(answer));
    let result = on_runtime(driver.get(b"a", Clock::system().now(), |_| ()));
    let error = result.unwrap_err();
    assert!(error.is_unreachable(), "{error}");
    error.to_string()
}

fn says(words: &'static [u8]) -> impl Fn(&mut TcpStream) + Send + Sync + 'static {
    move |stream| stream.write_all(words).unwrap()
}

#[test]
fn silence_ends_with_the_time_limit() {
    let error = fails(|_| {});
    assert!(error.contains("did not answer within 200ms"), "{error}");
}

#[test]
fn half_an_answer_ends_with_the_time_limit() {
    for half in [&b"VA 100"[..], b"VA 100\r\nabc", b"VA 3\r\nabc", b"VA 3\r\nabc\r"] {
        let error = fails(says(half));
        assert!(error.contains("did not answer within 200ms"), "{error}");
    }
}

#[test]
fn an_answer_that_drips_ends_with_the_time_limit() {
    let error = fails(|stream| {
        // Until the client is gone.
        let _ = stream.write_all(b"VA 100\r\n");
        while stream.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    assert!(error.contains("did not answer within 200ms"), "{error}");
}

#[test]
fn garbage_is_named() {
    let error = fails(says(b"HTTP/1.1 400 Bad Request\r\n\r\n"));
    assert!(error.contains("does not speak memcached's protocol") && error.contains("HTTP/1.1 400"), "{error}");
    let error = fails(says(b"VA 3\r\nabcdefgh\r\n"));
    assert!(error.contains("does not end where its length says"), "{error}");
    let error = fails(says(b"VA 99999999999999\r\n"));
    assert!(error.contains("a value of 99999999999999 bytes exceeds the limit of 1047552"), "{error}");
    let error = fails(|stream| drop(stream.write_all(&vec![b'x'; 100_000])));
    assert!(error.contains("a line without an end"), "{error}");
}

#[test]
fn an_error_of_the_server_is_quoted() {
    let error = fails(says(b"SERVER_ERROR out of memory reading request\r\n"));
    assert!(error.contains("says: out of memory reading request"), "{error}");
}

#[test]
fn a_connection_that_ends_is_opened_once_more_and_then_an_error() {
    let error = fails(|stream| stream.shutdown(std::net::Shutdown::Both).unwrap());
    assert!(error.contains("the connection to memcached at 127.0.0.1:") && error.contains("ended"), "{error}");
}

#[test]
fn other_servers_are_named() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for words in [&b"VERSION 1.4.2\r\n"[..], b"ERROR Too many open connections\r\n", b"-ERR unknown command\r\n"] {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(words).unwrap();
            // Closing with unread input would reset the connection before the words arrive.
            let _ = BufReader::new(stream).lines().next();
        }
    });
    on_runtime(async {
        for wanted in ["version 1.4.2 lacks the meta protocol", "Too many open connections", "-ERR"] {
            let error = driver(port).get(b"a", Clock::system().now(), |_| ()).await.unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    });
}
