//! The Rust of the article `sqlite-on-the-request-thread`.

use skep::prelude::*;
use skep::sql::{Row, query};

#[derive(Row)]
struct Hive {
    name: String,
    frames: i64,
}

impl Handle for Apiary {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let hives = cx.db().all::<Hive>(query("select name, frames from hive where place = ?", &self.place)).await?;
        let lines: Vec<String> = hives.iter().map(|hive| format!("{}: {}", hive.name, hive.frames)).collect();
        Ok(Response::text(lines.join("\n")))
    }
}

#[derive(Service)]
#[service(GET "/apiaries/{place}")]
struct Apiary {
    place: Slug,
}

async fn give(cx: &mut Cx<'_>, from: i64, to: i64) -> Result<()> {
let transaction = cx.db().transaction().await?;
transaction.execute(query("update hive set frames = frames - 1 where id = ?", from)).await?;
transaction.execute(query("update hive set frames = frames + 1 where id = ?", to)).await?;
transaction.commit().await?;
Ok(())
}
