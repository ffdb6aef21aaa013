use skep::prelude::*;

/// Who calls it is not told what comes.
#[derive(Service)]
#[service(GET "/count")]
struct Count;

impl Answer for Count {
    async fn answer(self, _cx: &mut Cx<'_>) -> Result<u32> {
        Ok(7)
    }
}

fn main() {}
