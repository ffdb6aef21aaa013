//! 200 services that differ in their path, or the first two of them.

use skep::Services;
use skep::prelude::*;

fn part(id: u32) -> Response {
    Response::text(format!("part {id}"))
}

/// Mounts all, or the first two.
pub(crate) fn mount(app: App, is_many: bool) -> App {
    let app = app.serve(FEW);
    if is_many { app.serve(REST) } else { app.allow_unmounted(REST, "few routes are asked for") }
}

include!(concat!(env!("OUT_DIR"), "/parts.rs"));
