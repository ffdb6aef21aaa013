//! The application's own error page for a request whose instance failed. A native application renders it after a panic;
//! of a component another instance does.

use std::sync::Arc;

use bytes::Bytes;
use skep::Response;
use skep::request::RequestId;
use skep::wire::Reader;
use skep::wire::request::Head;
use tokio::time::Instant;
use wasmtime::Result;

use super::direct::{unpacked, within};
use super::failure::Failure;
use crate::clock::Clock;
use crate::exports::DirectHandler;
use crate::version::Version;

/// The page for this failure, which is logged; or the failure, if there is no page.
pub(super) async fn of(
    failure: Failure,
    (version, handler): (&Arc<Version>, DirectHandler),
    id: RequestId,
    request: &[u8],
) -> Result<Response, Failure> {
    let Some(failed) = handler.failed.filter(|_| failure.is_its_own()) else { return Err(failure) };
    let status = failure.status();
    let why = failure.text(version);
    let until = Instant::now() + version.program.limits.error_page_time;
    let mut instance = version.fresh();
    let render = async {
        instance.begin(&version.program)?;
        instance.store.data_mut().deadline =
            version.program.grants.clock.now().saturating_add(Clock::ticks(version.program.limits.error_page_time));
        instance.store.data_mut().services.begin(id);
        instance.call::<_, (Vec<u8>,)>(&version.program, &failed, (request, status.as_u16(), why.as_str())).await
    };
    // If that fails, too, the host renders a page.
    let Ok(Ok((bytes,))) = within(until, render).await else { return Err(failure) };
    let Ok((page, false)) = unpacked(&Bytes::from(bytes)) else { return Err(failure) };
    let head = Head::read(&mut Reader::new(request));
    let (method, path) = head.map_or(("", ""), |head| (head.method, head.path()));
    let error = failure.into_error(version);
    tracing::error!(target: "skep::request", %id, method, path, "{error}");
    Ok(page.with_status(status))
}
