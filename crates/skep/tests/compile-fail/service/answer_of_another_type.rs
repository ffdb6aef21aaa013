use skep::prelude::*;

#[derive(Service)]
#[service(GET "/count", answers = u32)]
struct Count;

impl Answer for Count {
    async fn answer(self, _cx: &mut Cx<'_>) -> Result<String> {
        Ok("seven".to_owned())
    }
}

#[derive(Service)]
#[service(GET "/number", answers = u32)]
struct Number;

impl Answer for Number {
    async fn answer(self, _cx: &mut Cx<'_>) -> Result<u32> {
        Ok("seven".to_owned())
    }
}

fn main() {}
