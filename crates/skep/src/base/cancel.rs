//! Work that somebody waits for, and that ends when nobody does any more.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use futures_channel::oneshot;

/// Does the work and sends its value. It is dropped once the receiver is, as a server drops a request whose client has
/// left.
pub(crate) async fn unless_canceled<T>(work: impl Future<Output = T>, mut sender: oneshot::Sender<T>) {
    let mut work = pin!(work);
    let value = poll_fn(|cx| match sender.poll_canceled(cx) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => work.as_mut().poll(cx).map(Some),
    });
    if let Some(value) = value.await {
        // Who left at the last moment gets nothing.
        let _ = sender.send(value);
    }
}
