//! From the HTML of a mail to its text, and to links that lead somewhere from a mailbox.
//!
//! It reads what `html!` writes: each element is closed, and what is special is escaped. Of other HTML it makes what it
//! can, and never fails.

use std::borrow::Cow;

/// Gives links and pictures of this site (`/orders/7`) its origin: a mailbox has no page that they could begin at.
pub(super) fn absolute(html: &str, origin: &str) -> String {
    let origin = origin.trim_end_matches('/');
    let mut out = String::with_capacity(html.len() + 64);
    for token in tokens(html) {
        let Token::Open(tag) = token else {
            out.push_str(token.source());
            continue;
        };
        let mut written = 0;
        for attribute in tag.attributes() {
            let leads_home = attribute.value.starts_with('/') && !attribute.value.starts_with("//");
            if leads_home && matches!(attribute.name, "href" | "src") {
                out.push_str(&tag.source[written..attribute.start]);
                out.push_str(origin);
                written = attribute.start;
            }
        }
        out.push_str(&tag.source[written..]);
    }
    out
}

/// The text for programs that show no HTML: paragraphs, headings, lists, rows of tables, and links with where they
/// lead.
pub(super) fn text(html: &str) -> String {
    let mut text = Text::default();
    for token in tokens(html) {
        match token {
            Token::Open(tag) if is_hidden(tag.name) => text.hidden += usize::from(!tag.is_closed()),
            Token::Close(name, _) if is_hidden(name) => text.hidden = text.hidden.saturating_sub(1),
            _ if text.hidden > 0 => {}
            Token::Open(tag) => text.open(&tag),
            Token::Close(name, _) => text.close(name),
            Token::Text(source) => text.push(&unescaped(source)),
            Token::Other(_) => {}
        }
    }
    text.out.push('\n');
    text.out
}

fn is_hidden(name: &str) -> bool {
    matches!(name, "head" | "script" | "style" | "template" | "title")
}

#[derive(Clone, Copy)]
enum Token<'h> {
    Text(&'h str),
    Open(Tag<'h>),
    /// A name, and all of it.
    Close(&'h str, &'h str),
    /// A comment or a declaration.
    Other(&'h str),
}

#[derive(Clone, Copy)]
struct Tag<'h> {
    name: &'h str,
    /// From `<` to `>`.
    source: &'h str,
}

struct Attribute<'h> {
    name: &'h str,
    /// As it is written.
    value: &'h str,
    /// Of the value, in the source of the tag.
    start: usize,
}

impl<'h> Token<'h> {
    fn source(&self) -> &'h str {
        match self {
            Self::Text(source) | Self::Close(_, source) | Self::Other(source) => source,
            Self::Open(tag) => tag.source,
        }
    }
}

fn tokens(html: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = html;
    std::iter::from_fn(move || {
        let begin = rest.chars().next()?;
        let len = if begin != '<' {
            rest.find('<').unwrap_or(rest.len())
        } else if rest.starts_with("<!--") {
            rest.find("-->").map_or(rest.len(), |end| end + 3)
        } else {
            end_of_tag(rest)
        };
        let (source, after) = rest.split_at(len);
        rest = after;
        Some(token(source))
    })
}

/// A `>` in quotes ends nothing.
fn end_of_tag(rest: &str) -> usize {
    let mut quote = None;
    for (at, byte) in rest.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at + 1,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    rest.len()
}

fn token(source: &str) -> Token<'_> {
    let Some(inner) = source.strip_prefix('<') else { return Token::Text(source) };
    let (is_close, inner) = inner.strip_prefix('/').map_or((false, inner), |inner| (true, inner));
    let end = inner.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(inner.len());
    match (&inner[..end], is_close) {
        ("", _) => Token::Other(source),
        (name, true) => Token::Close(name, source),
        (name, false) => Token::Open(Tag { name, source }),
    }
}

impl<'h> Tag<'h> {
    fn is_closed(&self) -> bool {
        self.source.ends_with("/>")
    }

    /// Those in quotes.
    fn attributes(&self) -> impl Iterator<Item = Attribute<'h>> + use<'h> {
        let (source, mut at) = (self.source, 1 + self.name.len());
        std::iter::from_fn(move || {
            let equals = at + source[at..].find('=')?;
            let name = source[at..equals].rsplit([' ', '\n', '\t']).next().unwrap_or_default();
            let quote = source[equals + 1..].chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
            let start = equals + 2;
            let value = source[start..].split(quote).next().unwrap_or_default();
            at = (start + value.len() + 1).min(source.len());
            Some(Attribute { name, value, start })
        })
    }

    fn attribute(&self, name: &str) -> Option<Cow<'h, str>> {
        self.attributes().find(|attribute| attribute.name == name).map(|attribute| unescaped(attribute.value))
    }
}

fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return text.into();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find(';').unwrap_or(0);
        if let Some(letter) = character(rest.get(1..end).unwrap_or_default()) {
            out.push(letter);
            rest = &rest[end + 1..];
        } else {
            out.push('&');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out.into()
}

fn character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some('\u{a0}'),
        _ => {
            let number = name.strip_prefix('#')?;
            let hex = number.strip_prefix(['x', 'X']);
            hex.map_or_else(|| number.parse().ok(), |digits| u32::from_str_radix(digits, 16).ok())
                .and_then(char::from_u32)
        }
    }
}

/// What is between what was written and what comes next.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
    Blank,
}

#[derive(Default)]
struct Text {
    out: String,
    gap: Gap,
    /// What lines begin with: of quotations and of lists.
    indent: Vec<&'static str>,
    /// How many of these the last line had.
    depth: usize,
    /// Of an item whose first line is not written, in place of its indent.
    marker: Option<String>,
    /// The number of the last item, of lists that are open; `None` of those without numbers.
    lists: Vec<Option<u32>>,
    /// Where the links that are open lead, and where their texts begin.
    links: Vec<(String, usize)>,
    has_cell: bool,
    preformatted: usize,
    hidden: usize,
}

impl Text {
    fn need(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    fn open(&mut self, tag: &Tag<'_>) {
        match tag.name {
            "ul" | "ol" => {
                self.need(if self.lists.is_empty() { Gap::Blank } else { Gap::Line });
                self.lists.push((tag.name == "ol").then_some(0));
            }
            "li" => {
                self.need(Gap::Line);
                self.marker = Some(match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{number}. ")
                    }
                    _ => "- ".to_owned(),
                });
                self.indent.push("  ");
            }
            "blockquote" => {
                self.need(Gap::Blank);
                self.indent.push("> ");
            }
            "pre" => {
                self.need(Gap::Blank);
                self.preformatted += 1;
            }
            "tr" => {
                self.need(Gap::Line);
                self.has_cell = false;
            }
            "td" | "th" if self.has_cell => self.word(" | "),
            "td" | "th" => self.has_cell = true,
            "a" => {
                let to = tag.attribute("href").unwrap_or_default().into_owned();
                self.links.push((to, self.out.len()));
            }
            "img" => self.push(&tag.attribute("alt").unwrap_or_default()),
            "br" => self.need(Gap::Line),
            "hr" => {
                self.need(Gap::Blank);
                self.word("----------");
                self.need(Gap::Blank);
            }
            name => self.need(gap_of(name)),
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "ul" | "ol" => {
                self.lists.pop();
                self.need(if self.lists.is_empty() { Gap::Blank } else { Gap::Line });
            }
            "li" => {
                self.indent.pop();
                self.marker = None;
                self.need(Gap::Line);
            }
            "blockquote" => {
                self.indent.pop();
                self.need(Gap::Blank);
            }
            "pre" => {
                self.preformatted = self.preformatted.saturating_sub(1);
                self.need(Gap::Blank);
            }
            "tr" => self.need(Gap::Line),
            "a" => self.end_link(),
            "h1" => self.underline('='),
            "h2" => self.underline('-'),
            name => self.need(gap_of(name)),
        }
    }

    fn end_link(&mut self) {
        let Some((to, start)) = self.links.pop() else { return };
        let shown = self.out[start..].trim();
        let is_shown = shown == to || ["mailto:", "tel:"].iter().any(|scheme| to.strip_prefix(scheme) == Some(shown));
        if to.is_empty() || to.starts_with('#') || is_shown {
            return;
        }
        let addition = if shown.is_empty() { to } else { format!("({to})") };
        self.need(if shown.is_empty() { Gap::None } else { Gap::Space });
        self.word(&addition);
    }

    fn underline(&mut self, line: char) {
        let width = self.out.lines().next_back().unwrap_or_default().chars().count();
        self.need(Gap::Line);
        self.word(&line.to_string().repeat(width));
        self.need(Gap::Blank);
    }

    /// Text with its white space, which is one space, but in `pre`.
    fn push(&mut self, text: &str) {
        if self.preformatted > 0 {
            for (number, line) in text.split('\n').enumerate() {
                self.need(if number > 0 { Gap::Line } else { Gap::None });
                self.word(line);
            }
            return;
        }
        let is_space = |letter: char| letter.is_ascii_whitespace();
        if text.starts_with(is_space) {
            self.need(Gap::Space);
        }
        for word in text.split(is_space).filter(|word| !word.is_empty()) {
            self.word(word);
            self.need(Gap::Space);
        }
        if !text.ends_with(is_space) && self.gap == Gap::Space {
            self.gap = Gap::None;
        }
    }

    fn word(&mut self, word: &str) {
        match std::mem::take(&mut self.gap) {
            _ if self.out.is_empty() => self.begin_line(),
            Gap::None => {}
            Gap::Space => self.out.push(' '),
            Gap::Line => {
                self.out.push('\n');
                self.begin_line();
            }
            Gap::Blank => {
                // Between a quotation and what is around it, the line belongs to neither.
                let quote = self.indent[..self.depth.min(self.indent.len())].concat();
                self.out.push('\n');
                self.out.push_str(quote.trim_end());
                self.out.push('\n');
                self.begin_line();
            }
        }
        self.out.push_str(word);
    }

    fn begin_line(&mut self) {
        self.depth = self.indent.len();
        let (marker, mut indent) = (self.marker.take(), self.indent.clone());
        if marker.is_some() {
            indent.pop();
        }
        self.out.push_str(&indent.concat());
        self.out.push_str(&marker.unwrap_or_default());
    }
}

fn gap_of(name: &str) -> Gap {
    match name {
        "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "table" | "dl" | "section" | "article" | "header"
        | "footer" | "figure" => Gap::Blank,
        "div" | "main" | "body" | "dt" | "dd" | "caption" | "figcaption" | "address" | "thead" | "tbody" | "tfoot" => {
            Gap::Line
        }
        _ => Gap::None,
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/mail/html.rs"]
mod tests;
