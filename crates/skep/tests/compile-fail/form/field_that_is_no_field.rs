use skep::prelude::*;

struct Anything;

#[derive(Service)]
#[service(POST "/comments")]
struct Comment {
    #[form]
    author: Anything,
}

impl Handle for Comment {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn main() {}
