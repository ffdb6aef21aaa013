//! Links that are the permission to get a file.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use skep::param::Token;
use skep::prelude::*;

use crate::cx::StorageCx;
use crate::record::FileRecord;
use crate::schema;

/// A link to a stored file, sealed with the application's keys: [`StorageCx::stored_link`].
#[derive(Service)]
#[service(GET "/-/files/{token}/{name}", open = "the link is the permission", api = false)]
pub struct FileLink {
    token: Token,
    /// So that what saves the file without asking for its name gets it.
    name: String,
}

/// What a link seals.
#[derive(Serialize, Deserialize)]
struct Sealed {
    file: FileRecord,
    /// In seconds since 1970.
    until: u64,
}

const PURPOSE: &str = "stored file";

impl FileLink {
    pub(crate) fn new(cx: &Cx<'_>, file: &FileRecord, lasts: Duration) -> Result<Self> {
        let until = now(cx).saturating_add(lasts.as_secs());
        let sealed = Sealed { file: file.clone(), until };
        Ok(Self { token: cx.seal(PURPOSE, &sealed, lasts)?.into(), name: file.name.clone() })
    }
}

fn now(cx: &Cx<'_>) -> u64 {
    cx.clock().now().millis() / 1000
}

impl Handle for FileLink {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let Sealed { file, until } = cx.unseal(PURPOSE, &self.token)?.or_404()?;
        if cx.db().one(schema::removed(&file.key)).await? == Some(1) {
            return Err(Error::not_found());
        }
        // Its bytes never change, and the link is gone by then.
        let max_age = Duration::from_secs(until.saturating_sub(now(cx)));
        cx.storage().answer_link(&file, (cx.method(), cx.request_headers()), max_age).await
    }
}
