//! Rules that nobody asks would be a false comfort.

use garde::Validate;
use skep::form::Text;
use skep::prelude::*;

#[derive(Service, Validate)]
#[service(POST "/comments")]
struct Comment {
    #[form]
    #[garde(ascii)]
    author: Text<1, 80>,
}

impl Handle for Comment {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.author.as_str().to_owned()))
    }
}

fn main() {}
