//! Whatever text is spliced, a browser's parser gives that text back: in text, attributes, `textarea`, `title`, `pre`
//! and scripts, and documents in attributes. The strings are pseudo-random and the same in each run. NUL is left out:
//! HTML cannot hold it.

use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use skep::html::{DOCTYPE, Html, Json, Phrasing};
use skep::{html_unchecked, piece};

const STRINGS: usize = 3000;
const LONGEST: u32 = 12;

/// What breaks out of places, and what borders on it.
const PIECES: &[&str] = &[
    "<",
    ">",
    "&",
    "\"",
    "'",
    "`",
    "=",
    "/",
    "\\",
    "\n",
    "\r",
    "\t",
    " ",
    "a",
    "é",
    "\u{2028}",
    "\u{2029}",
    "\u{1}",
    "\u{feff}",
    "😀",
    "&amp;",
    "&amp",
    "&#13;",
    "&#x3c;",
    "</textarea>",
    "</title>",
    "</script>",
    "</SCRIPT ",
    "<!--",
    "-->",
    "<script>",
    "]]>",
    "<![CDATA[",
    "javascript:",
    "JAVA\tSCRIPT",
    ":",
    "data:",
    "vbscript:",
    "//x.org",
    "alert(1)",
    "text that is longer than one step of the scan",
];

/// A linear congruential generator; its high bits are random enough for this (Knuth, 3.3.4).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.0 >> 33).expect("31 bits") % limit
    }

    fn string(&mut self) -> String {
        let pieces = self.below(LONGEST);
        let limit = u32::try_from(PIECES.len()).expect("a few");
        (0..pieces).map(|_| PIECES[self.below(limit) as usize]).collect()
    }
}

fn strings() -> impl Iterator<Item = String> {
    let mut random = Random(1);
    std::iter::repeat_with(move || random.string()).take(STRINGS)
}

fn parse(html: &Html) -> RcDom {
    parse_document(RcDom::default(), ParseOpts::default()).one(html.as_str())
}

/// The first element of this name.
fn find(node: &Handle, wanted: &str) -> Option<Handle> {
    if let NodeData::Element { name, .. } = &node.data
        && &*name.local == wanted
    {
        return Some(node.clone());
    }
    node.children.borrow().iter().find_map(|child| find(child, wanted))
}

/// All text in the element, which must have no element in it.
fn text(dom: &RcDom, element: &str) -> String {
    let element = find(&dom.document, element).expect("the element is there");
    let children = element.children.borrow();
    let texts = children.iter().map(|child| match &child.data {
        NodeData::Text { contents } => contents.borrow().to_string(),
        _ => panic!("there is more than text"),
    });
    texts.collect()
}

fn attribute(dom: &RcDom, element: &str, attribute: &str) -> String {
    let element = find(&dom.document, element).expect("the element is there");
    let NodeData::Element { attrs, .. } = &element.data else { panic!("it is an element") };
    let attrs = attrs.borrow();
    assert_eq!(attrs.len(), 1, "there is one attribute, and nothing became another");
    let found = attrs.iter().find(|found| &*found.name.local == attribute).expect("the attribute is there");
    found.value.to_string()
}

#[test]
fn text_comes_back_from_each_place() {
    for string in strings() {
        let dom = parse(&html_unchecked! {
            (DOCTYPE)
            title { (string) }
            p { (string) }
            b title=(string) {}
            i title={ "<" (string) ">" } {}
            pre { (string) }
            textarea { (string) }
        });
        for element in ["title", "p", "pre", "textarea"] {
            assert_eq!(text(&dom, element), string, "{element}");
        }
        assert_eq!(attribute(&dom, "b", "title"), string);
        assert_eq!(attribute(&dom, "i", "title"), format!("<{string}>"));
    }
}

/// A place of its own each: the value of an option, a class, an id, a value in pieces, and text that another function
/// wrote.
#[test]
fn text_comes_back_from_each_way_to_write_it() {
    fn line(text: &str) -> Html<Phrasing> {
        piece! { (text) }
    }
    for string in strings() {
        let dom = parse(&html_unchecked! {
            (DOCTYPE)
            h1 { (line(&string)) }
            b title=[Some(&string)] {}
            i.(string) {}
            em #(string) {}
            p aria-label={ @if true { (string) } "'" } {}
            u { (format_args!("{string}")) }
            s title=(format_args!("{string}")) {}
        });
        for element in ["h1", "u"] {
            assert_eq!(text(&dom, element), string, "{element}");
        }
        for (element, name) in [("b", "title"), ("i", "class"), ("em", "id"), ("s", "title")] {
            assert_eq!(attribute(&dom, element, name), string, "{element}");
        }
        assert_eq!(attribute(&dom, "p", "aria-label"), format!("{string}'"));
    }
}

/// The value of `srcdoc` is parsed twice: as an attribute, and as a page.
#[test]
fn text_comes_back_from_a_document_in_an_attribute() {
    for string in strings() {
        let inner = html_unchecked! { (DOCTYPE) title { (string) } p title=(string) {} b { (string) } };
        let outer = parse(&html_unchecked! { (DOCTYPE) iframe srcdoc=(inner) {} });
        let source = attribute(&outer, "iframe", "srcdoc");
        assert_eq!(source, inner.as_str());
        let dom = parse(&Html::trusted(source));
        assert_eq!((text(&dom, "title"), text(&dom, "b")), (string.clone(), string.clone()));
        assert_eq!(attribute(&dom, "p", "title"), string);
    }
}

#[test]
fn json_comes_back_from_each_script() {
    for string in strings() {
        let dom = parse(&html_unchecked! {
            (DOCTYPE)
            script { (Json(&string)) }
            style { (Json(&string)) }
            p onclick=(Json(&string)) {}
        });
        for script in [text(&dom, "script"), text(&dom, "style"), attribute(&dom, "p", "onclick")] {
            assert_eq!(serde_json::from_str::<String>(&script).expect("it is JSON"), string);
        }
    }
}

#[test]
fn a_url_comes_back_or_is_refused() {
    let mut refused = 0;
    for string in strings() {
        let (start, end) = string.split_at(string.floor_char_boundary(string.len() / 2));
        let dom = parse(&html_unchecked! { (DOCTYPE) a href=(string) {} i href={ (start) (end) } {} });
        for url in [attribute(&dom, "a", "href"), attribute(&dom, "i", "href")] {
            if url == "about:invalid" {
                refused += 1;
            } else {
                assert_eq!(url, string);
                assert!(!runs_code(&url), "{url:?}");
            }
        }
    }
    assert!(refused > STRINGS / 20, "only {refused} were refused");
}

/// Written from the URL standard (4.4), not from what is tested.
fn runs_code(url: &str) -> bool {
    let url = url.trim_start_matches(|letter: char| letter <= ' ').replace(['\t', '\n', '\r'], "").to_lowercase();
    ["javascript:", "vbscript:", "data:"].iter().any(|scheme| url.starts_with(scheme))
}
