//! The first page.

use skep::prelude::*;

use crate::note::Notes;

/// It leads on to the notes, and so to the form for who is not signed in.
#[derive(Service)]
#[service(GET "/", open = "it leads on")]
pub struct Home;

impl Handle for Home {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::see_other(Notes { at: None }))
    }
}
