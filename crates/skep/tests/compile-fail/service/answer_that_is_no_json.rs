use skep::prelude::*;

struct Plain;

#[derive(Service)]
#[service(GET "/plain", answers = Plain)]
struct Bare;

impl Answer for Bare {
    async fn answer(self, _cx: &mut Cx<'_>) -> Result<Plain> {
        Ok(Plain)
    }
}

fn main() {}
