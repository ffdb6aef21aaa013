use skep::prelude::*;

#[derive(Service)]
#[service(POST "/points")]
struct Store {
    #[json]
    point: u8,
    #[form]
    name: String,
}

impl Handle for Store {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn main() {}
