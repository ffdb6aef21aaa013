//! The bytes of a file, as they come.

use std::mem;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http_body_util::BodyExt;
use skep::Body;
use skep::body::FileSlice;
use skep::offload::{Offload, offload};

use crate::error::{Outcome, Problem, lost};

/// What is known of a file once it is written.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) size: u64,
    /// In hexadecimal digits.
    pub(crate) sha256: String,
}

/// The next bytes; `None` at the end. Those of a file are read where nothing else waits for the disk.
pub(crate) async fn next(body: &mut Body, pool: &dyn Offload) -> Outcome<Option<Bytes>> {
    match mem::take(body).into_file() {
        Ok(slice) => {
            let (piece, rest) = offload(pool, move || first(slice)).await.map_err(lost)?;
            *body = rest;
            piece
        }
        Err(other) => {
            *body = other;
            next_here(body).await
        }
    }
}

/// The first bytes of a file, and the others, without waiting.
fn first(slice: FileSlice) -> (Outcome<Option<Bytes>>, Body) {
    let mut body = Body::file(slice);
    let piece = match pin!(next_here(&mut body)).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(piece) => piece,
        Poll::Pending => Err(Problem::Broken("bytes of a file had to be waited for".into())),
    };
    (piece, body)
}

async fn next_here(body: &mut Body) -> Outcome<Option<Bytes>> {
    while let Some(frame) = body.frame().await {
        if let Ok(bytes) = frame.map_err(Problem::Broken)?.into_data() {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::Arc;

    use skep::offload::Inline;

    use super::*;

    /// A pool that is full.
    struct Full;

    impl Offload for Full {
        fn run(&self, _job: Box<dyn FnOnce() + Send>) {}
    }

    fn at_once<T>(work: impl Future<Output = T>) -> T {
        match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => panic!("it waits"),
        }
    }

    #[test]
    fn a_file_is_read_by_the_pool_and_nothing_else_is() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; 100_000]).unwrap();
        let slice = FileSlice { file: Arc::new(file), start: 1, len: 99_999 };
        assert!(matches!(at_once(next(&mut Body::file(slice.clone()), &Full)), Err(Problem::Away(_))));
        assert_eq!(at_once(next(&mut Body::from("here"), &Full)).unwrap().unwrap(), "here");
        let (mut body, mut size) = (Body::file(slice), 0);
        while let Some(bytes) = at_once(next(&mut body, &Inline)).unwrap() {
            size += bytes.len();
        }
        assert_eq!(size, 99_999);
    }
}
