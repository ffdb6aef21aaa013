//! The page for a request whose instance is gone, in the application's own style: a native application draws it itself after a panic, and a
//! component has nobody left who could. So another instance is asked.

use std::sync::Arc;

use bytes::Bytes;
use skep::Response;
use skep::cx::RequestId;
use skep::wire::Reader;
use skep::wire::request::Head;
use tokio::time::Instant;
use wasmtime::Result;

use super::door::{Door, unpacked, within};
use super::failure::Failure;
use crate::engine::Clock;
use crate::ready::Ready;

/// The page for this failure, which is logged; or the failure, if there is none.
pub(super) async fn of(
    failure: Failure,
    (ready, door): (&Arc<Ready>, Door),
    (id, is_head): (RequestId, bool),
    request: &[u8],
) -> Result<Response, Failure> {
    let Some(failed) = door.failed.filter(|_| failure.is_its_own()) else { return Err(failure) };
    let status = failure.status();
    let why = failure.text(ready);
    // Whoever has waited for an answer in vain waits no longer than that for the page.
    let until = Instant::now() + ready.limits.page;
    let mut instance = ready.fresh();
    let asked = async {
        instance.begin(ready)?;
        instance.store.data_mut().deadline = ready.grants.clock.now().saturating_add(Clock::ticks(ready.limits.page));
        instance.store.data_mut().services.begin(id);
        instance.call::<_, (Vec<u8>,)>(ready, &failed, (request, status.as_u16(), why.as_str())).await
    };
    // Its time and its traps are nobody's business: then the host has a page, too.
    let Ok(Ok((bytes,))) = within(until, asked).await else { return Err(failure) };
    let Ok((page, false)) = unpacked(&Bytes::from(bytes), is_head) else { return Err(failure) };
    let head = Head::read(&mut Reader::new(request));
    let (method, path) = head.map_or(("", ""), |head| (head.method, head.path()));
    let error = failure.into_error(ready);
    tracing::error!(target: "skep::request", %id, method, path, "{error}");
    Ok(page.with_status(status))
}
