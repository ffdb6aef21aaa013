//! The blog, page by page.

use std::collections::BTreeSet;

use super::guest::component;
use super::same;
use super::site::{Said, Site};

/// The addresses that a page leads to on its own site.
fn links(said: &Said) -> Vec<String> {
    let text = said.text();
    let mut links = Vec::new();
    for part in text.split("href=\"").chain(text.split("src=\"")).skip(1) {
        let url = part.split('"').next().unwrap_or_default().replace("&amp;", "&");
        let url = url.split('#').next().unwrap_or_default();
        // Articles show source, in which an attribute may hold what is no address.
        if url.starts_with('/') && !url.starts_with("//") && url.parse::<http::Uri>().is_ok() {
            links.push(url.to_owned());
        }
    }
    links
}

/// One test for both: start-up code writes the articles into a new folder and keeps their times, so that each site has
/// an image of its own to compile.
#[test]
fn the_blog_says_the_same() {
    let (native, component) = (Site::native(blog::app()), Site::baseline(&component("blog")));
    on_every_page(&native, &component);
    about_comments(&native, &component);
}

fn on_every_page(native: &Site, component: &Site) {
    let mut seen = BTreeSet::new();
    let mut open: Vec<String> =
        ["/", "/api.json", "/api/articles", "/search?q=bee+cache", "/nowhere", "/?page=9", "/archive/"]
            .map(Into::into)
            .into();
    while let Some(path) = open.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let (here, there) = (native.get(&path), component.get(&path));
        same(&here, &there, &path);
        if let Some((_, tag)) = here.fields.iter().find(|(name, _)| name == "etag") {
            let asked = [("if-none-match", tag.as_str())];
            same(&native.ask("GET", &path, "", &asked), &component.ask("GET", &path, "", &asked), &path);
        }
        same(&native.ask("HEAD", &path, "", &[]), &component.ask("HEAD", &path, "", &[]), &path);
        open.extend(links(&here));
    }
    assert!(seen.len() > 60, "{seen:?}");
}

fn about_comments(native: &Site, component: &Site) {
    let (article, comments) = ("/writings/measure-first", "/writings/measure-first/comments");
    let forms = [
        "author=Ann&text=*Good*+%3Cscript%3E",
        "author=&text=Nobody",
        "author=Ann&text=Look&preview=yes",
        "author=Ann&text=Again",
    ];
    for form in forms {
        same(&native.post(comments, form), &component.post(comments, form), form);
        same(&native.get(article), &component.get(article), form);
    }
    assert!(component.get(article).text().contains("<em>Good</em>"));
    for form in 0..5 {
        let form = format!("author=Ann&text=More+{form}");
        same(&native.post(comments, &form), &component.post(comments, &form), &form);
    }
    let foreign = [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "cross-site")];
    same(
        &native.ask("POST", comments, forms[0], &foreign),
        &component.ask("POST", comments, forms[0], &foreign),
        "forged",
    );
    same(&native.ask("PUT", article, "x", &[]), &component.ask("PUT", article, "x", &[]), "a method that nobody has");
}
