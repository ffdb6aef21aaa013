//! What rendering a list of 20 articles costs: a page as the blog's front page, beside the same template in maud.
//! Leaves out queries and HTTP, which cost more. One thread; the page is dropped as a sent one is.
//! Run: `cargo bench -p skep --bench html`.

use divan::{Bencher, counter::BytesCount};

fn main() {
    divan::main();
}

struct Article {
    id: u32,
    slug: String,
    title: String,
    author: String,
    summary: String,
    tags: Vec<String>,
    comments: Option<u32>,
}

const ARTICLES: u32 = 20;

fn articles() -> Vec<Article> {
    (1..=ARTICLES)
        .map(|id| Article {
            id,
            slug: format!("article-number-{id}"),
            title: format!("Building for the web, part {id}: hives & swarms"),
            author: "Ann O'Nymous".into(),
            summary: "A skep is a straw basket in which bees live. It has one door and many cells; nobody looks inside without \
                      turning it over, and <no one> turns it over without being stung."
                .into(),
            tags: ["rust", "web", "bees"][id as usize % 3..].iter().map(ToString::to_string).collect(),
            comments: (id % 3 != 0).then_some(id * 7),
        })
        .collect()
}

/// The two differ in the macro's name and in nothing else.
macro_rules! page {
    ($html:path, $type:ty, $doctype:expr) => {
        pub(crate) fn page(articles: &[Article], chosen: &str) -> $type {
            use $html as html;
            layout(
                "Articles",
                html! {
                    h1.title { "Articles" }
                    ul #articles.list {
                        @for article in articles { li { (row(article, chosen)) } }
                    }
                },
            )
        }

        fn row(article: &Article, chosen: &str) -> $type {
            use $html as html;
            html! {
                article.card.starred[article.id % 2 == 0] {
                    h2 { a href={ "/writings/" (article.slug) } title=(article.title) { (article.title) } }
                    p.meta { "By " span.author { (article.author) } ", number " (article.id) }
                    p { (article.summary) }
                    @if let Some(comments) = article.comments {
                        a.comments href={ "/writings/" (article.slug) "#comments" } { (comments) " comments" }
                    } @else {
                        span.none { "No comments" }
                    }
                    ul.tags {
                        @for tag in &article.tags {
                            li.chosen[tag == chosen] { a href={ "/tags/" (tag) } { (tag) } }
                        }
                    }
                }
            }
        }

        fn layout(title: &str, content: $type) -> $type {
            use $html as html;
            html! {
                ($doctype)
                html lang="en" {
                    head {
                        meta charset="utf-8";
                        meta name="viewport" content="width=device-width, initial-scale=1";
                        title { (title) " - Bees" }
                        link rel="stylesheet" href="/static/style.css";
                    }
                    body {
                        header { nav { a href="/" { "Home" } " " a href="/about" { "About" } } }
                        main { (content) }
                        footer { p { "Made of straw." } }
                    }
                }
            }
        }
    };
}

mod with_skep {
    use super::Article;
    page!(skep::html, skep::html::Html, skep::html::DOCTYPE);
}

mod with_maud {
    use super::Article;
    page!(maud::html, maud::Markup, maud::DOCTYPE);
}

#[divan::bench]
fn skep(bencher: Bencher<'_, '_>) {
    let articles = articles();
    let bytes = BytesCount::new(with_skep::page(&articles, "web").as_str().len());
    bencher.counter(bytes).bench(|| drop(with_skep::page(divan::black_box(&articles), "web")));
}

#[divan::bench]
fn maud(bencher: Bencher<'_, '_>) {
    let articles = articles();
    let bytes = BytesCount::new(with_maud::page(&articles, "web").0.len());
    bencher.counter(bytes).bench(|| drop(with_maud::page(divan::black_box(&articles), "web")));
}
