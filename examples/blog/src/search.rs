//! Full-text search.

use skep::html::Phrasing;
use skep::prelude::*;
use skep::sql::{Query, Row};

use crate::article::Article;
use crate::layout::{day, page};

/// The articles that speak of something.
#[derive(Service)]
#[service(GET "/search")]
pub struct Search {
    /// What was asked for.
    pub q: Option<String>,
}

#[derive(Row)]
struct Hit {
    slug: Slug,
    title: String,
    published: String,
    excerpt: String,
}

/// More than anybody reads.
const MOST: u32 = 50;

impl Handle for Search {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let asked = self.q.as_deref().unwrap_or_default().trim();
        let words = words(asked);
        let mut hits = Vec::new();
        if !words.is_empty() {
            hits = cx.db().all(best(&words)).await?;
        }
        let title = if asked.is_empty() { "Search".into() } else { format!("Search: {asked}") };
        Ok(page(
            &title,
            &html! {
                h1 { "Search" }
                form.searching (Search::form().value(Search::q, &self.q)) role="search" {
                    div { label (Search::q) { "Words" } input (Search::q) type="search"; }
                    button { "Search" }
                }
                @if !words.is_empty() {
                    p.meta role="status" { (found(hits.len())) }
                }
                @for hit in &hits {
                    article.teaser {
                        h2 { a href=(Article::link(hit.slug.clone())) { (hit.title) } }
                        p.meta { (day(&hit.published)) }
                        p { (marked(&hit.excerpt)) }
                    }
                }
            },
        ))
    }
}

/// Title counts most, then summary, then text. The marks are characters that no article has, so that the text between
/// them can still be escaped.
fn best(words: &str) -> Query<'_, Hit> {
    sql!(
        Hit,
        "select article.slug, article.title, article.published,
            snippet(article_search, 2, char(2), char(3), '…', 30) as \"excerpt!\"
        from article_search join article on article.id = article_search.rowid
        where article_search match ? order by bm25(article_search, 10, 4, 1) limit ?",
        words,
        MOST
    )
}

/// The query language of FTS5 is not for visitors: each word is quoted, all must occur, the last may be a beginning.
fn words(asked: &str) -> String {
    let words = asked.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).take(16);
    let mut query = words.map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" ");
    if !query.is_empty() {
        query.push('*');
    }
    query
}

fn found(hits: usize) -> String {
    match hits {
        0 => "No article has all of these words.".into(),
        1 => "One article.".into(),
        many if many == MOST as usize => format!("The best {many} articles."),
        many => format!("{many} articles."),
    }
}

/// An excerpt with its hits marked.
fn marked(excerpt: &str) -> Html<Phrasing> {
    piece! {
        @for piece in excerpt.split_inclusive(['\u{2}', '\u{3}']) {
            @if let Some(hit) = piece.strip_suffix('\u{3}') { mark { (hit) } }
            @else { (piece.trim_end_matches('\u{2}')) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_visitors_type_is_words_and_never_a_query() {
        assert_eq!(words("  a  fine-day "), "\"a\" \"fine\" \"day\"*");
        assert_eq!(words("\"unbalanced OR (x NEAR y*"), "\"unbalanced\" \"OR\" \"x\" \"NEAR\" \"y\"*");
        assert_eq!(words("'\";--"), "");
    }

    #[test]
    fn hits_are_marked_and_the_rest_is_escaped() {
        let html = marked("a <b> \u{2}bee\u{3} & c");
        assert_eq!(html.as_str(), "a &lt;b&gt; <mark>bee</mark> &amp; c");
    }
}
