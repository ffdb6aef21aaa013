//! A table that takes time to make, and a look-up in it.

use std::collections::HashMap;
use std::env;

use skep::prelude::*;

pub(crate) struct Table(HashMap<String, String>);

impl Table {
    pub(crate) fn make() -> Self {
        let entries: u32 =
            env::var("APP_ENTRIES").map_or(0, |text| text.parse().expect("APP_ENTRIES is a number of entries"));
        Self((0..entries).map(|number| (format!("key-{number}"), format!("Hello, {number}!"))).collect())
    }
}

#[derive(Service)]
#[service(GET "/look-up/{key}")]
pub(crate) struct LookUp {
    key: Slug,
}

impl Handle for LookUp {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let found = cx.state::<Table>().0.get(self.key.as_str());
        Ok(Response::text(found.cloned().or_404()?))
    }
}
