//! Markdown to HTML: for articles, whose author is trusted, and for comments, whose author is not.

use std::sync::LazyLock;

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use skep::Slug;
use skep::html::Html;

/// What articles may use beside plain Markdown.
const OPTIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_FOOTNOTES).union(Options::ENABLE_STRIKETHROUGH);

/// An article. Headings get an id from their text, wide tables a box to scroll in.
///
/// Its author owns the folder: HTML inside it stays.
pub fn article(markdown: &str) -> Html {
    let mut html = String::with_capacity(markdown.len() * 3 / 2);
    pulldown_cmark::html::push_html(&mut html, with_anchors(Parser::new_ext(markdown, OPTIONS)));
    Html::trusted(html)
}

/// An article to be read elsewhere, such as in a feed: its links to this site begin with `origin`.
pub fn article_from(origin: &str, markdown: &str) -> Html {
    let mut html = String::with_capacity(markdown.len() * 3 / 2);
    let absolute = |link: CowStr<'_>| match link.strip_prefix('/') {
        Some(path) if !path.starts_with('/') => CowStr::from(format!("{origin}/{path}")),
        _ => link.into_string().into(),
    };
    let events = Parser::new_ext(markdown, OPTIONS).map(|event| match event {
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: absolute(dest_url), title, id })
        }
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Image { link_type, dest_url: absolute(dest_url), title, id })
        }
        event => event,
    });
    pulldown_cmark::html::push_html(&mut html, with_anchors(events));
    Html::trusted(html)
}

/// The text of an article as it reads, without marks, for the search.
pub fn plain(markdown: &str) -> String {
    let mut text = String::with_capacity(markdown.len());
    for event in Parser::new_ext(markdown, OPTIONS) {
        match event {
            Event::Text(piece) | Event::Code(piece) => text.push_str(&piece),
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. })
            | Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link)
            | Event::InlineHtml(_) => {}
            // What is apart from its neighbours, or between them.
            _ => text.push('\n'),
        }
    }
    text
}

/// A comment: plain Markdown, and of its HTML only what cannot hurt. Links are marked so that they are worth nothing to
/// spammers.
pub fn comment(markdown: &str) -> Html {
    static CLEANER: LazyLock<ammonia::Builder<'static>> = LazyLock::new(|| {
        let mut cleaner = ammonia::Builder::default();
        cleaner.rm_tags(["img", "h1", "h2", "h3", "h4", "h5", "h6", "details", "summary", "map", "area"]);
        cleaner.link_rel(Some("nofollow ugc noopener"));
        cleaner
    });
    let mut html = String::new();
    let mut depth = 0;
    // HTML in a comment is shown as it was typed: a reader who writes `<b>` means to show it.
    let events = Parser::new(markdown).map(|event| match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::SoftBreak => Event::HardBreak,
        // The headings of the page are ours.
        Event::Start(Tag::Heading { .. }) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::Heading(_)) => Event::End(TagEnd::Paragraph),
        event => event,
    });
    pulldown_cmark::html::push_html(&mut html, events.filter(|event| is_shallow(event, &mut depth)));
    Html::trusted(CLEANER.clean(&html).to_string())
}

/// Quotations, lists and emphasis within each other: more says nothing, and 10 000 of them take the cleaner a third of
/// a second.
const DEEPEST: usize = 16;

/// False for the beginning and end of what lies too deep; its content stays.
fn is_shallow(event: &Event<'_>, depth: &mut usize) -> bool {
    match event {
        Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::Emphasis | Tag::Strong) => {
            *depth += 1;
            *depth <= DEEPEST
        }
        Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Emphasis | TagEnd::Strong) => {
            *depth -= 1;
            *depth < DEEPEST
        }
        // As deep as its list.
        Event::Start(Tag::Item) | Event::End(TagEnd::Item) => *depth <= DEEPEST,
        _ => true,
    }
}

/// Gives headings the id that a link with a fragment leads to, and tables a box that scrolls.
fn with_anchors<'m>(events: impl Iterator<Item = Event<'m>>) -> impl Iterator<Item = Event<'m>> {
    Anchors { events, pending: Vec::new() }
}

struct Anchors<'m, I: Iterator<Item = Event<'m>>> {
    events: I,
    /// What was read ahead, last first.
    pending: Vec<Event<'m>>,
}

impl<'m, I: Iterator<Item = Event<'m>>> Iterator for Anchors<'m, I> {
    type Item = Event<'m>;

    fn next(&mut self) -> Option<Event<'m>> {
        if let Some(event) = self.pending.pop() {
            return Some(event);
        }
        match self.events.next()? {
            Event::Start(Tag::Heading { level, id: None, classes, attrs }) => {
                let id = self.read_heading(level);
                Some(Event::Start(Tag::Heading { level, id: Some(id), classes, attrs }))
            }
            event @ Event::Start(Tag::Table(_)) => {
                self.pending.push(event);
                Some(Event::Html(r#"<div class="wide">"#.into()))
            }
            event @ Event::End(TagEnd::Table) => {
                self.pending.push(Event::Html("</div>".into()));
                Some(event)
            }
            event => Some(event),
        }
    }
}

impl<'m, I: Iterator<Item = Event<'m>>> Anchors<'m, I> {
    /// Reads to the end of a heading and gives its id; what was read comes next.
    fn read_heading(&mut self, level: HeadingLevel) -> CowStr<'m> {
        let mut title = String::new();
        for event in self.events.by_ref() {
            let end = event == Event::End(TagEnd::Heading(level));
            if let Event::Text(text) | Event::Code(text) = &event {
                title.push_str(text);
            }
            self.pending.push(event);
            if end {
                break;
            }
        }
        self.pending.reverse();
        Slug::of(&title).as_str().to_owned().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_link_targets() {
        let html = article("## A *fine* `day`\n\ntext");
        assert_eq!(html.as_str(), "<h2 id=\"a-fine-day\">A <em>fine</em> <code>day</code></h2>\n<p>text</p>\n");
    }

    #[test]
    fn a_table_has_a_box_to_scroll_in() {
        let html = article("a|b\n-|-\n1|2\n");
        assert!(html.as_str().starts_with("<div class=\"wide\"><table>"), "{}", html.as_str());
        assert!(html.as_str().trim_end().ends_with("</table>\n</div>"), "{}", html.as_str());
    }

    #[test]
    fn plain_text_has_the_words_and_no_marks() {
        let markdown = "# The *bee*\n\nSee [**the** hive](/hives/1 \"T\"), `html!` &amp; <b>b</b>\nand ![a picture](/p.png).\n\n* one\n* two\n\n\
            > said\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nlet a = [1](2);\n```\n";
        let words = plain(markdown).split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
        assert_eq!(words, "The bee See the hive, html! & b and a picture . one two said a b 1 2 let a = [1](2);");
    }

    #[test]
    fn a_comment_cannot_hurt() {
        let html = comment("See <script>alert(1)</script> [x](javascript:alert(1)) **b** [y](https://example.org)");
        let html = html.as_str();
        assert!(!html.contains("<script") && !html.contains("javascript:"), "{html}");
        assert!(html.contains("&lt;script&gt;") && html.contains("<strong>b</strong>"), "{html}");
        assert!(html.contains("rel=\"nofollow ugc noopener\""), "{html}");
    }

    #[test]
    fn links_of_an_article_can_be_followed_elsewhere() {
        let html = article_from("https://example.org", "[a](/b) [c](//d/e) [f](https://g/)");
        let html = html.as_str();
        assert!(html.contains("\"https://example.org/b\""), "{html}");
        assert!(html.contains("\"//d/e\"") && html.contains("\"https://g/\""), "{html}");
    }

    #[test]
    fn a_heading_in_a_comment_is_a_paragraph() {
        assert_eq!(comment("# a *b*").as_str(), "<p>a <em>b</em></p>\n");
    }

    #[test]
    fn what_is_nested_too_deep_is_flat_and_keeps_its_text() {
        for deep in [">".repeat(9_999), "- ".repeat(4_999), format!("{0}a{0}", "*".repeat(4_999)), "1. ".repeat(3_333)]
        {
            let html = comment(&format!("{deep}a"));
            let html = html.as_str();
            assert!(html.contains('a') && html.len() < 20_000, "{}", html.len());
            let opened = ["<blockquote>", "<ul>", "<ol>", "<em>", "<strong>"].map(|tag| html.matches(tag).count());
            assert_eq!(opened.iter().sum::<usize>(), DEEPEST, "{html}");
            assert!(html.matches("<li>").count() <= DEEPEST, "{html}");
        }
    }

    #[test]
    fn line_breaks_of_a_comment_are_kept() {
        assert_eq!(comment("a\nb").as_str(), "<p>a<br>\nb</p>\n");
    }
}
