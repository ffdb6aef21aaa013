//! The least that is right: of each element, and of the page around it.

use super::tree::{Element, Tree};
use crate::html::standard::{self, Categories};

/// Ids and names that a value may speak of, and what has them. A page gets those that are spoken of.
const SPOKEN_OF: &[&str] = &["there", "control", "the-form", "the-list", "the-map", "the-head"];

/// What an element needs to be right, where it stands right.
pub(super) fn least(name: &str) -> Element {
    let element = Element::new(name);
    match name {
        "html" => element.holding(least("head")).holding(Element::new("body")),
        "head" => element.holding(least("title")),
        "title" | "option" | "a" | "button" | "summary" | "rt" => element.saying("x"),
        "details" => element.holding(least("summary")),
        "picture" => element.holding(least("img")),
        "hgroup" => element.holding(Element::new("h1").saying("x")),
        "ruby" => element.saying("x").holding(least("rt")),
        "img" => element.with("src", "/x").with("alt", "x"),
        "link" => element.with("rel", "stylesheet").with("href", "/x"),
        "meta" => element.with("name", "x").with("content", "x"),
        "base" => element.with("href", "/x"),
        "area" => element.with("shape", "default"),
        "source" | "embed" => element.with("src", "/x"),
        "track" => element.with("src", "/x").with("srclang", "en"),
        "optgroup" => element.with("label", "x"),
        "object" => element.with("data", "/x"),
        "map" => element.with("name", "x"),
        "data" => element.with("value", "x"),
        "meter" => element.with("value", "0.5"),
        "bdo" => element.with("dir", "ltr"),
        "time" => element.with("datetime", "2026-09-16"),
        "param" => element.with("name", "x").with("value", "x"),
        _ => element,
    }
}

/// Around an element, what it may stand in, up to a page.
pub(super) fn page(element: Element) -> Element {
    let parent = |name: &str, element: Element| page(Element::new(name).holding(element));
    match element.name.as_str() {
        "html" => speaking(element),
        "head" => speaking(Element::new("html").holding(element).holding(Element::new("body"))),
        "body" => speaking(Element::new("html").holding(least("head")).holding(element)),
        "li" => parent("ul", element),
        "dt" => page(Element::new("dl").holding(element).holding(Element::new("dd"))),
        "dd" => page(Element::new("dl").holding(Element::new("dt")).holding(element)),
        "tr" | "thead" | "tbody" | "tfoot" | "caption" | "colgroup" => parent("table", element),
        "td" | "th" => parent("tr", element),
        "col" => parent("colgroup", element),
        "option" | "optgroup" => parent("select", element),
        "legend" => parent("fieldset", element),
        "summary" => parent("details", element),
        "figcaption" => parent("figure", element),
        "source" | "track" => parent("video", element),
        "rt" => page(Element::new("ruby").saying("x").holding(element)),
        "rp" => page(Element::new("ruby").saying("x").holding(element).holding(least("rt"))),
        "area" => page(least("map").holding(element)),
        "selectedcontent" => page(Element::new("select").holding(Element::new("button").holding(element))),
        "title" => parent("head", element),
        name if is_metadata(name, &element) => page(least("head").holding(element)),
        _ => parent("body", element),
    }
}

/// Is the head where it stands?
fn is_metadata(name: &str, element: &Element) -> bool {
    let is_only = |rules: &standard::Rules| {
        rules.categories.has(Categories::METADATA) && !rules.categories.has(Categories::PHRASING)
    };
    standard::element(name).is_some_and(is_only) && !element.attributes.iter().any(|(name, _)| name == "itemprop")
}

/// Adds to the end of a page's body what the values of its attributes speak of.
fn speaking(mut html: Element) -> Element {
    let mut spoken = Vec::new();
    html.visit(&mut |element| {
        for (_, value) in &element.attributes {
            spoken.extend(value.split(' ').map(|word| word.trim_start_matches('#').to_owned()));
        }
    });
    let Some(Tree::Element(body)) = html.kids.last_mut() else { return html };
    for name in SPOKEN_OF.iter().filter(|name| spoken.iter().any(|word| word == *name)) {
        let witness = match *name {
            "control" => Element::new("input").with("id", name),
            "the-form" => Element::new("form").with("id", name),
            "the-list" => Element::new("datalist").with("id", name),
            "the-map" => Element::new("map").with("name", name),
            "the-head" => {
                Element::new("table").holding(Element::new("tr").holding(Element::new("th").with("id", name)))
            }
            _ => Element::new("div").with("id", name),
        };
        body.kids.push(Tree::Element(witness));
    }
    html
}
