//! What rendering a list of 20 articles costs: a page as the blog's front page, beside the same page in maud, hypertext
//! and askama. Leaves out queries and HTTP, which cost more. One thread; the page is dropped as a sent one is.
//!
//! Before anything is measured, all must have written the same bytes; only how an escaped character is spelled may
//! differ. Each is written as its documentation shows: a function per part of the page, which in askama is an include.
//! hypertext's parts are lazy and all written into one string; skep's and maud's are strings that are copied.
//!
//! Run: `cargo bench -p skep --bench html`. All take turns, in an order that changes; a ratio is made within a round,
//! so that what slows the machine for a while slows both sides of it. For a profile, or to count instructions, let one
//! run alone: `perf stat -e instructions:u target/release/deps/html-* skep 100000`, and once more with other turns: the
//! difference is pages and nothing else.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

/// How often each has its turn, and how many pages it makes then: about 5 ms.
const ROUNDS: usize = 201;
const PAGES: u32 = 400;

type Page = fn(&[Article], &str);

const ALL: [(&str, Page); 4] = [
    ("skep", |articles, chosen| drop(with_skep::page(articles, chosen))),
    ("maud", |articles, chosen| drop(with_maud::page(articles, chosen))),
    ("hypertext", |articles, chosen| drop(with_hypertext::page(articles, chosen))),
    ("askama", |articles, chosen| drop(with_askama::page(articles, chosen))),
];

fn main() -> ExitCode {
    assert_all_write_the_same();
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.as_slice() {
        [] => side_by_side(),
        [name, pages] => return alone(name, pages),
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: html [NAME PAGES], where NAME is one of {:?}", ALL.map(|(name, _)| name));
    ExitCode::FAILURE
}

/// Makes this number of pages, for a profiler to look at.
fn alone(name: &str, pages: &str) -> ExitCode {
    let found = ALL.into_iter().find(|(known, _)| *known == name);
    let (Some((_, page)), Ok(pages)) = (found, pages.parse()) else { return usage() };
    let articles = articles();
    println!("{:.0} ns per page", turn(page, &articles, pages));
    ExitCode::SUCCESS
}

/// Nanoseconds per page.
fn turn(page: Page, articles: &[Article], pages: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..pages {
        page(black_box(articles), black_box("web"));
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(pages)
}

fn side_by_side() {
    let articles = articles();
    let bytes = with_skep::page(&articles, "web").as_str().len();
    let mut rounds: Vec<[f64; ALL.len()]> = Vec::new();
    // The first round warms up.
    for round in 0..=ROUNDS {
        let mut times = [0.0; ALL.len()];
        for at in 0..ALL.len() {
            let at = (at + round) % ALL.len();
            times[at] = turn(ALL[at].1, &articles, PAGES);
        }
        rounds.push(times);
    }
    println!("a page of {bytes} bytes, {ROUNDS} rounds of {PAGES}\n");
    println!("           median ns   fastest ns   median of its ratio to skep");
    for (at, (name, _)) in ALL.iter().enumerate() {
        let mut times: Vec<f64> = rounds[1..].iter().map(|times| times[at]).collect();
        let ratio = median(&mut rounds[1..].iter().map(|times| times[at] / times[0]).collect::<Vec<_>>());
        println!("{name:10} {:9.0} {:12.0} {ratio:13.2}", median(&mut times), times[0]);
    }
}

/// Sorts them, too.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
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
            author: "Ann Onymous".into(),
            summary: "A skep is a straw basket in which bees live. It has one door and many cells; nobody looks inside without \
                      turning it over, and <no one> turns it over without being stung."
                .into(),
            tags: ["rust", "web", "bees"][id as usize % 3..].iter().map(ToString::to_string).collect(),
            comments: (id % 3 != 0).then_some(id * 7),
        })
        .collect()
}

/// skep and maud differ in the macro's name and in the types, and in nothing else.
macro_rules! page {
    ($html:path, $piece:ty, $page:ty, $doctype:expr) => {
        pub(crate) fn page(articles: &[Article], chosen: &str) -> $page {
            use $html as html;
            layout(
                "Articles",
                html! {
                    h1.title { "Articles" }
                    ul.list #articles {
                        @for article in articles { li { (row(article, chosen)) } }
                    }
                },
            )
        }

        fn row(article: &Article, chosen: &str) -> $piece {
            use $html as html;
            html! {
                article.card.starred[article.id.is_multiple_of(2)] {
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
                            li class=[(tag == chosen).then_some("chosen")] { a href={ "/tags/" (tag) } { (tag) } }
                        }
                    }
                }
            }
        }

        fn layout(title: &str, content: $piece) -> $page {
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
    page!(skep::html, skep::html::Html, skep::html::Html<skep::html::Document>, skep::html::DOCTYPE);
}

mod with_maud {
    use super::Article;
    page!(maud::html, maud::Markup, maud::Markup, maud::DOCTYPE);
}

mod with_hypertext {
    use hypertext::prelude::*;

    use super::Article;

    pub(crate) fn page(articles: &[Article], chosen: &str) -> String {
        let content = maud! {
            h1.title { "Articles" }
            ul.list id="articles" {
                @for article in articles { li { (row(article, chosen)) } }
            }
        };
        layout("Articles", content).render().into_inner()
    }

    fn row(article: &Article, chosen: &str) -> impl Renderable {
        maud! {
            article.card.starred[article.id.is_multiple_of(2)] {
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
                        li class=[(tag == chosen).then_some("chosen")] { a href={ "/tags/" (tag) } { (tag) } }
                    }
                }
            }
        }
    }

    fn layout(title: &str, content: impl Renderable) -> impl Renderable {
        maud! {
            !DOCTYPE
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
}

mod with_askama {
    use askama::Template;

    use super::Article;

    #[derive(Template)]
    #[template(
        ext = "html",
        source = r##"<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{{ title }} - Bees</title><link rel="stylesheet" href="/static/style.css"></head><body><header><nav><a href="/">Home</a> <a href="/about">About</a></nav></header><main><h1 class="title">Articles</h1><ul class="list" id="articles">
{%- for article in articles -%}
<li><article class="card{% if article.id.is_multiple_of(2) %} starred{% endif %}"><h2><a href="/writings/{{ article.slug }}" title="{{ article.title }}">{{ article.title }}</a></h2><p class="meta">By <span class="author">{{ article.author }}</span>, number {{ article.id }}</p><p>{{ article.summary }}</p>
{%- if let Some(comments) = article.comments -%}
<a class="comments" href="/writings/{{ article.slug }}#comments">{{ comments }} comments</a>
{%- else -%}
<span class="none">No comments</span>
{%- endif -%}
<ul class="tags">
{%- for tag in article.tags -%}
<li{% if tag == chosen %} class="chosen"{% endif %}><a href="/tags/{{ tag }}">{{ tag }}</a></li>
{%- endfor -%}
</ul></article></li>
{%- endfor -%}
</ul></main><footer><p>Made of straw.</p></footer></body></html>"##
    )]
    struct Page<'a> {
        title: &'a str,
        articles: &'a [Article],
        chosen: &'a str,
    }

    pub(crate) fn page(articles: &[Article], chosen: &str) -> String {
        Page { title: "Articles", articles, chosen }.render().expect("a string takes all")
    }
}

fn assert_all_write_the_same() {
    let articles = articles();
    let ours = with_skep::page(&articles, "web").into_string();
    for (name, page) in [
        ("maud", with_maud::page(&articles, "web").into_string()),
        ("hypertext", with_hypertext::page(&articles, "web")),
        ("askama", with_askama::page(&articles, "web")),
    ] {
        let page = respelled(&page);
        let same = page.bytes().zip(ours.bytes()).take_while(|(one, other)| one == other).count();
        assert!(page == ours, "{name} differs at byte {same}: {:.60}", page.get(same..).unwrap_or_default());
    }
}

/// askama writes numbers where the others write names.
fn respelled(page: &str) -> String {
    page.replace("&#38;", "&amp;").replace("&#60;", "&lt;").replace("&#62;", "&gt;")
}
