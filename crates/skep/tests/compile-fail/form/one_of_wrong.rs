use skep::form::{Offer, Offered, OneOf};
use skep::prelude::*;

struct Trainers;

impl Offer for Trainers {
    type Value = i64;

    async fn offered(_cx: &mut Cx<'_>) -> Result<Offered<Self>> {
        Ok([(7, "Ann")].into_iter().collect())
    }
}

#[derive(Service)]
#[service(POST "/courses")]
struct Save {
    #[form]
    trainer: OneOf<Trainers>,
    #[form]
    others: Vec<OneOf<Trainers>>,
    #[form]
    level: String,
}

impl Handle for Save {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

#[derive(Service)]
#[service(GET "/trainers/{trainer}")]
struct Show {
    trainer: OneOf<Trainers>,
}

impl Handle for Show {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

async fn page(cx: &mut Cx<'_>) -> Result<Html> {
    let trainers = Trainers::offered(cx).await?;
    Ok(html! {
        form (Save::form(cx)) {
            select (Save::trainer);
            input (Save::others.among(&trainers));
            select (Save::level.among(&trainers));
        }
    })
}

fn main() {}
