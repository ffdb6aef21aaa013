//! Unit tests of `body`.

use super::*;

struct Chunks(std::vec::IntoIter<usize>, SizeHint);

impl http_body::Body for Chunks {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        Poll::Ready(self.0.next().map(|len| Ok(Frame::data(vec![b'x'; len].into()))))
    }

    fn size_hint(&self) -> SizeHint {
        self.1
    }
}

#[test]
fn what_is_admitted_is_the_memory_and_a_declared_length_is_the_end_of_it() {
    let admitted = |hint: SizeHint| {
        let (body, mut all) = (Body::stream(Chunks(vec![700, 700, 100].into_iter(), hint)), 0);
        let admit = |bytes| {
            all += bytes;
            Ok(())
        };
        let whole = skep_cache::driver::block_on(body.collect_if(10_000, admit)).unwrap();
        (whole.len(), all)
    };
    assert_eq!(admitted(SizeHint::default()), (1500, 2800));
    assert_eq!(admitted(SizeHint::with_exact(1500)), (1500, 1500));
}
