use skep::prelude::*;

struct Colour;

#[derive(Service)]
#[service(GET "/paint")]
struct Paint {
    colour: Colour,
}

impl Handle for Paint {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn main() {}
