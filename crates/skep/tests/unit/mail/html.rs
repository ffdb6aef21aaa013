//! Texts of mails, derived from their HTML.

use super::*;
use crate::html;

fn derived(html: &crate::html::Html) -> String {
    text(&absolute(html.as_str(), "https://shop.example.org/"))
}

#[test]
fn a_page_is_read_from_top_to_bottom() {
    let page = html! {
        h1 { "Your order" }
        p {
            "Dear "
            strong { "Ada & Bob" }
            ",\n   it is "
            em { "on its way" }
            "."
            br;
            "See "
            a href="/orders/7?a=1&b=2" { "the order" }
            ", write to "
            a href="mailto:shop@example.org" { "shop@example.org" }
            " or visit "
            a href="https://example.org" { "https://example.org" }
            "."
        }
        h2 { "Items" }
        ul {
            li { "Pen" }
            li {
                "Paper"
                ol {
                    li { "white" }
                    li { "blue" }
                }
            }
        }
        table {
            tr { th { "Item" } th { "Price" } }
            tr { td { "Pen" } td { "2 €" } }
        }
        blockquote { p { "First." } p { "Second." } }
        hr;
        pre { "a  b\n  c" }
        p { img src="/logo.png" alt="The shop"; }
    };
    let expected = "Your order
==========

Dear Ada & Bob, it is on its way.
See the order (https://shop.example.org/orders/7?a=1&b=2), write to shop@example.org or visit https://example.org.

Items
-----

- Pen
- Paper
  1. white
  2. blue

Item | Price
Pen | 2 €

> First.
>
> Second.

----------

a  b
  c

The shop
";
    assert_eq!(derived(&page), expected);
}

#[test]
fn only_links_of_this_site_get_its_origin() {
    let page = html! {
        p {
            a href="/a" title="href=\"/b\" > it" { "href=\"/c\"" }
            a href="//cdn.example.org/d" { "d" }
            a href="https://example.org/e" { "e" }
            img src="cid:logo" alt="";
            img src="/f.png" alt="";
        }
    };
    let made = absolute(page.as_str(), "https://shop.example.org");
    assert_eq!(made.matches("https://shop.example.org").count(), 2, "{made}");
    assert!(
        made.contains("href=\"https://shop.example.org/a\"") && made.contains("src=\"https://shop.example.org/f.png\"")
    );
}

#[test]
fn what_is_not_shown_is_not_in_the_text() {
    let head = "<!doctype html><html><head><title>No</title><style>p { color: red }</style></head>";
    assert_eq!(
        text(&format!("{head}<body><!-- no --><p>Yes &lt;&#x21;&gt; &copy;</p></body></html>")),
        "Yes <!> &copy;\n"
    );
}

#[test]
fn broken_html_is_read_as_far_as_it_goes() {
    for html in ["", "<", "<a", "<a href=", "<a href=\"", "</", "&", "&#;", "<p>a</b></a></li></ul><", "<a href='/x"] {
        text(&absolute(html, "https://shop.example.org"));
    }
}
