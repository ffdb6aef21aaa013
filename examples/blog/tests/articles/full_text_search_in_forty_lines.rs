//! The Rust of the article `full-text-search-in-forty-lines`.

use skep::prelude::*;
use skep::sql::Row;

fn words(typed: &str) -> String {
    let words = typed.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut query = words.take(12).map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" ");
    if !query.is_empty() {
        query.push('*');
    }
    query
}

#[derive(Service)]
#[service(GET "/search")]
struct Search {
    q: Option<String>,
}

#[derive(Row)]
struct Hit {
    slug: Slug,
    title: String,
    excerpt: String,
}

const HITS: &str = "select slug, recipe.title, snippet(recipe_search, 1, char(2), char(3), '…', 24) as excerpt
    from recipe_search join recipe on recipe.id = recipe_search.rowid
    where recipe_search match ?
    order by bm25(recipe_search, 8, 1) limit 30";

fn excerpt(text: &str) -> Html {
    html! {
        @for piece in text.split_inclusive(['\u{2}', '\u{3}']) {
            @if let Some(hit) = piece.strip_suffix('\u{3}') { mark { (hit) } }
            @else { (piece.trim_end_matches('\u{2}')) }
        }
    }
}

impl Search {
    fn form_of_the_page(&self) -> Html {
html! {
    form (Search::form().value(Search::q, &self.q)) role="search" {
        label (Search::q) { "Find a recipe" }
        input (Search::q) type="search";
        button { "Search" }
    }
}
    }
}

impl Handle for Search {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(self.form_of_the_page()))
    }
}

#[test]
fn what_is_typed_is_never_a_query_of_its_own() {
    assert_eq!(words("\"bread\" OR (rye"), "\"bread\" \"OR\" \"rye\"*");
    assert_eq!(words(" - "), "");
}
