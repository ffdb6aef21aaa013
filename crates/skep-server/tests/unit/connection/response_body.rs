//! Unit tests of `connection::response_body`.

use super::*;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A body of one out-of-band chunk.
struct OutOfBand(Option<usize>);

impl http_body::Body for OutOfBand {
    type Data = Chunk;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Chunk>, Infallible>>> {
        Poll::Ready(self.0.take().map(|length| Ok(Frame::data(Chunk::OutOfBand(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.map_or(0, |length| length as u64))
    }
}

/// The contract with hyper: it writes the head of such a response and none of its body, and the connection continues.
#[test]
fn hyper_writes_the_head_of_an_out_of_band_body_and_no_more() {
    const LENGTH: usize = 5 << 20;
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let written = runtime.block_on(async {
        let (mut client, server) = tokio::io::duplex(64 << 10);
        let respond = service_fn(async |_| Ok::<_, Infallible>(http::Response::new(OutOfBand(Some(LENGTH)))));
        let request = "GET / HTTP/1.1\r\nHost: x\r\n";
        let requests = format!("{request}\r\n{request}\r\n{request}Connection: close\r\n\r\n");
        client.write_all(requests.as_bytes()).await.unwrap();
        let mut http = hyper::server::conn::http1::Builder::new();
        http.writev(false).serve_connection(TokioIo::new(server), respond).await.unwrap();
        let mut written = String::new();
        client.read_to_string(&mut written).await.unwrap();
        written
    });
    let heads: Vec<&str> = written.split_terminator("\r\n\r\n").collect();
    assert_eq!(heads.len(), 3, "{written}");
    let length = format!("content-length: {LENGTH}");
    assert!(heads.iter().all(|head| head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains(&length)), "{written}");
}
