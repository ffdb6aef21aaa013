//! What is wrong with a function is one error, and none where it is mounted or linked.

use skep::prelude::*;

#[handler(GET "/hives/{id}")]
fn Show(_cx: &mut Cx<'_>, id: i64) -> Result {
    Ok(Response::text(id.to_string()))
}

#[handler(GET "/api/hives/{id}")]
async fn Read(id: i64) -> Result<i64> {
    Ok(id)
}

#[handler(GET "/combs/{id}")]
async fn Comb(_cx: &mut Cx<'_>, id @ 1..=5: i64) -> Result {
    Ok(Response::text(id.to_string()))
}

fn main() {
    let _ = App::new().serve(services![Show, Read, Comb]);
    let _ = html! { a href=(Show::link(7)) { "7" } a href=(Read { id: 7 }) { "8" } a href=(Comb::link(1)) { "1" } };
}
