//! A form with three fields, validated.

use skep::form::{Email, MultilineText, Text};
use skep::prelude::*;

#[derive(Service)]
#[service(POST "/form")]
pub(crate) struct Sign {
    #[form]
    name: Text<1, 80>,
    #[form]
    email: Email,
    #[form]
    text: MultilineText<1, 2_000>,
}

impl Handle for Sign {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let Self { name, email, text } = self;
        let (name, email, bytes) = (name.as_str(), email.as_str(), text.as_str().len());
        Ok(Response::text(format!("{bytes} bytes from {name} <{email}>")))
    }
}
