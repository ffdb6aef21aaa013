//! 200 services that differ in their path, or the first two of them.

use skep::prelude::*;

fn part(id: u32) -> Response {
    Response::text(format!("part {id}"))
}

/// Mounts all, or the first two.
pub(crate) fn mount(app: App, is_many: bool) -> App {
    let app = app.serve::<Few>();
    if is_many { rest(app) } else { no_rest(app) }
}

include!(concat!(env!("OUT_DIR"), "/parts.rs"));
