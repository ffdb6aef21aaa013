//! Finds the pages of a site: by its links, and by what its forms answer.

use std::collections::{BTreeSet, VecDeque};

use crate::site::{PageResponse, Site};

/// More pages than any example has: beyond it, links make new links.
const MOST: usize = 500;

/// A path that no example has.
const NOWHERE: &str = "/there-is-no-such-page";

/// A client that signs out sees no more.
const SIGN_OUT: &str = "/sign-out";

/// A page as it came.
pub(super) struct Page {
    /// "GET /path, 200".
    pub(super) called: String,
    pub(super) html: String,
}

/// A request that is yet to be made.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Step {
    Get(String),
    Post(String),
}

/// Every page that links and forms lead to.
pub(super) fn all(site: &Site) -> Result<Vec<Page>, String> {
    let mut steps: VecDeque<Step> = site.paths()?.into_iter().map(Step::Get).collect();
    steps.push_back(Step::Get(NOWHERE.to_owned()));
    let mut seen: BTreeSet<Step> = steps.iter().cloned().collect();
    let mut pages = Vec::new();
    while let Some(step) = steps.pop_front() {
        if seen.len() > MOST {
            return Err(format!("more than {MOST} pages: do links make new links?"));
        }
        let (path, answer) = match &step {
            Step::Get(path) => (path, site.get(path)?),
            Step::Post(path) => (path, site.post(path)?),
        };
        for next in next(path, &answer) {
            if seen.insert(next.clone()) {
                steps.push_back(next);
            }
        }
        if answer.kind == "text/html" {
            let method = if matches!(step, Step::Get(_)) { "GET" } else { "POST" };
            pages.push(Page { called: format!("{method} {path}, {}", answer.status), html: answer.body });
        }
    }
    Ok(pages)
}

/// Where an answer leads.
fn next(path: &str, answer: &PageResponse) -> Vec<Step> {
    let mut steps: Vec<Step> = answer.location.iter().filter_map(|to| local(path, to)).map(Step::Get).collect();
    if answer.kind != "text/html" {
        return steps;
    }
    for tag in tags(&answer.body) {
        let to = attribute(tag, "href").or_else(|| attribute(tag, "action").filter(|_| tag.starts_with("form")));
        let is_post = attribute(tag, "method").is_some_and(|method| method.eq_ignore_ascii_case("post"));
        let to = to.or_else(|| tag.starts_with("form").then(|| path.to_owned()));
        let Some(to) = to.and_then(|to| local(path, &to)).filter(|to| to != SIGN_OUT) else { continue };
        steps.push(if is_post { Step::Post(to) } else { Step::Get(to) });
    }
    steps
}

/// The start tags, without their brackets. Skep writes `<` only for tags, and values between double quotes.
fn tags(html: &str) -> impl Iterator<Item = &str> {
    html.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(tag, _)| tag)
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    let (value, _) = rest.split_once('"')?;
    Some(value.replace("&amp;", "&"))
}

/// The path on this site that a link on a page of this path leads to, without its fragment.
fn local(page: &str, to: &str) -> Option<String> {
    let to = to.split('#').next().unwrap_or_default();
    if to.starts_with('?') {
        return Some(format!("{}{to}", page.split('?').next().unwrap_or_default()));
    }
    (to.starts_with('/') && !to.starts_with("//")).then(|| to.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_on_and_forms_are_sent() {
        let body = "<p><a class=\"x\" href=\"/a?b=1&amp;c=2#d\">e</a><a href=\"https://else.where/\">f</a>\
                    <form method=\"post\" action=\"/g\"><form action=\"/h\"><a href=\"?i\">";
        let answer =
            PageResponse { status: 200, kind: "text/html".into(), location: None, cookie: None, body: body.into() };
        let get = |path: &str| Step::Get(path.to_owned());
        assert_eq!(next("/j?k", &answer), [get("/a?b=1&c=2"), Step::Post("/g".into()), get("/h"), get("/j?i")]);
    }

    #[test]
    fn a_redirect_leads_on() {
        let answer = PageResponse {
            status: 303,
            kind: String::new(),
            location: Some("/a".into()),
            cookie: None,
            body: String::new(),
        };
        assert_eq!(next("/", &answer), [Step::Get("/a".into())]);
    }
}
