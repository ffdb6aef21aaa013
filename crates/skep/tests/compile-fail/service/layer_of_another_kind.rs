//! A layer takes the request and what comes after it.

use skep::prelude::*;

struct Audit;

fn main() {
    let _ = App::new().wrap(Audit);
    let _ = App::new().wrap(async |cx: &mut Cx<'_>| Ok(Response::text("")));
}
