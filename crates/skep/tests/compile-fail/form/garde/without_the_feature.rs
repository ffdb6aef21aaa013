//! Rules that nobody asks would be a false comfort.

use garde::Validate;
use skep::prelude::*;

#[derive(Service, Validate)]
#[service(POST "/comments")]
struct Comment {
    #[form]
    #[garde(ascii)]
    author: String,
}

impl Handle for Comment {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.author))
    }
}

fn main() {}
