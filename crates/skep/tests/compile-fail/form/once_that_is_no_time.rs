use skep::prelude::*;

#[derive(Service)]
#[service(POST "/orders", once = "soon")]
struct Order;

impl Handle for Order {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

#[derive(Service)]
#[service(GET "/orders", once = "2h")]
struct Orders;

impl Handle for Orders {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

#[derive(Service)]
#[service(POST "/api/orders", once = "2h")]
struct Api {
    #[json]
    order: String,
}

impl Handle for Api {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.order))
    }
}

fn main() {}
