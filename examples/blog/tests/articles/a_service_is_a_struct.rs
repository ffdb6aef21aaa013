//! The Rust of the article `a-service-is-a-struct`.

use skep::prelude::*;

/// One book, perhaps opened at a chapter.
#[derive(Service)]
#[service(GET "/books/{id}")]
struct Book {
    id: u32,
    chapter: Option<u16>,
}

impl Handle for Book {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(format!("book {}, chapter {:?}", self.id, self.chapter)))
    }
}

#[test]
fn a_value_is_its_link() {
assert_eq!(Book { id: 17, chapter: None }.url(), "/books/17");
assert_eq!(Book { id: 17, chapter: Some(3) }.url(), "/books/17?chapter=3");
}

fn chapter_three() -> Html {
html! { a href=(Book { id: 17, chapter: Some(3) }) { "Chapter three" } }
}

mod search {
use skep::prelude::*;

#[derive(Service)]
#[service(GET "/books")]
struct Books;

#[derive(Service)]
#[service(GET "/books")]
struct Search { q: String }

impl Handle for Books {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("all books"))
    }
}

impl Handle for Search {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(format!("books about {}", self.q)))
    }
}

#[test]
fn the_query_decides_which_service_is_called() {
    let client = skep::test::Client::new(App::new().serve(services![Books, Search]));
    assert_eq!(client.get("/books").text(), "all books");
    assert_eq!(client.get("/books?q=bees").text(), "books about bees");
}
}
