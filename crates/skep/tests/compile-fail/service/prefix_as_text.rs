use skep::prelude::*;

#[derive(Service)]
#[service(GET "/", prefix = "/shop")]
struct Text;

impl Handle for Text {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn main() {}
