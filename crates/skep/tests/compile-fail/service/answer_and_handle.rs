use skep::prelude::*;

/// One of the two answers.
#[derive(Service)]
#[service(GET "/count", answers = u32)]
struct Count;

impl Answer for Count {
    async fn answer(self, _cx: &mut Cx<'_>) -> Result<u32> {
        Ok(7)
    }
}

impl Handle for Count {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("7"))
    }
}

fn main() {}
