//! The Rust of the article `slugs-permalinks-and-percent-signs`.

use skep::prelude::*;

#[test]
fn a_slug_is_a_piece_of_an_address() {
use skep::Slug;

assert_eq!(Slug::of("On Salt & Crème fraîche").as_str(), "on-salt-creme-fraiche");
assert!("on-salt".parse::<Slug>().is_ok());
assert!("On_Salt".parse::<Slug>().is_err());
}

#[test]
fn what_has_a_meaning_is_escaped() {
#[derive(Service)]
#[service(GET "/notes/{title}")]
struct Note {
    title: String,
    mark: Option<String>,
}

let note = Note { title: "C++ / 50%".into(), mark: Some("a + b".into()) };
assert_eq!(note.url(), "/notes/C++%20%2F%2050%25?mark=a+%2B+b");

impl Handle for Note {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.title))
    }
}
}
