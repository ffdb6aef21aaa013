//! Text for a terminal as HTML: colours become classes, everything else is escaped, and places become links.

use std::fmt::Write as _;

use crate::editor::SourceLocation;

/// What the escape sequences before a text have set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Style {
    bold: bool,
    /// One of the sixteen colours.
    colour: Option<u8>,
}

impl Style {
    /// Applies the numbers of one sequence `ESC [ ... m`.
    fn set(&mut self, numbers: &str) {
        let mut numbers = numbers.split(';').map(|number| number.parse().unwrap_or(0));
        while let Some(number) = numbers.next() {
            match number {
                0 => *self = Self::default(),
                1 => self.bold = true,
                22 => self.bold = false,
                30..=37 => self.colour = Some(number - 30),
                90..=97 => self.colour = Some(number - 90 + 8),
                39 => self.colour = None,
                // One of 256: the first sixteen are ours.
                38 if numbers.next() == Some(5) => self.colour = numbers.next().filter(|colour| *colour < 16),
                _ => {}
            }
        }
    }

    fn open(self, html: &mut String) {
        if self != Self::default() {
            let colour = self.colour.map(|colour| format!("c{colour}")).unwrap_or_default();
            let _ = write!(html, "<span class=\"{colour}{}\">", if self.bold { " b" } else { "" });
        }
    }

    fn close(self, html: &mut String) {
        if self != Self::default() {
            html.push_str("</span>");
        }
    }
}

/// Makes HTML of the text. Places that the compiler names after `-->` or `:::` become links, where `link` has one.
pub(crate) fn to_html(text: &str, link: impl Fn(&SourceLocation<'_>) -> String) -> String {
    let mut html = String::with_capacity(text.len() * 2);
    let mut style = Style::default();
    for line in text.split_inclusive('\n') {
        let runs = runs(line, &mut style);
        let plain: String = runs.iter().map(|(_, text)| *text).collect();
        let plain = plain.trim();
        let place = plain.strip_prefix("--> ").or_else(|| plain.strip_prefix("::: ")).map(str::trim);
        for (style, text) in runs {
            style.open(&mut html);
            match place.filter(|place| text.trim_end().ends_with(place)).and_then(SourceLocation::of) {
                Some(found) => write_link(&mut html, text, place.unwrap_or_default(), &link(&found)),
                None => escape(&mut html, text),
            }
            style.close(&mut html);
        }
    }
    html
}

fn write_link(html: &mut String, text: &str, place: &str, url: &str) {
    let (before, after) = text.split_once(place).unwrap_or((text, ""));
    escape(html, before);
    html.push_str("<a href=\"");
    escape(html, url);
    html.push_str("\">");
    escape(html, place);
    html.push_str("</a>");
    escape(html, after);
}

/// The line in pieces of one style; sequences that are no style are left out.
fn runs<'t>(line: &'t str, style: &mut Style) -> Vec<(Style, &'t str)> {
    let mut runs = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find('\u{1b}') {
        runs.push((*style, &rest[..at]));
        rest = skip(&rest[at + 1..], style);
    }
    runs.push((*style, rest));
    runs.retain(|(_, text)| !text.is_empty());
    runs
}

/// What follows the sequence, of which the escape character was read.
fn skip<'t>(text: &'t str, style: &mut Style) -> &'t str {
    if let Some(rest) = text.strip_prefix('[') {
        let end = rest.find(|letter: char| ('@'..='~').contains(&letter)).unwrap_or(rest.len());
        let (numbers, rest) = rest.split_at(end);
        if rest.starts_with('m') {
            style.set(numbers);
        }
        return rest.get(1..).unwrap_or_default();
    }
    if let Some(rest) = text.strip_prefix(']') {
        // A hyperlink or a title: up to BEL, or ESC and a backslash.
        let ends = [rest.find('\u{7}').map(|at| at + 1), rest.find("\u{1b}\\").map(|at| at + 2)];
        let end = ends.into_iter().flatten().min().unwrap_or(rest.len());
        return &rest[end..];
    }
    text
}

/// Appends the text with whatever is special in HTML escaped.
pub(crate) fn escape(html: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            // Control characters do nothing good in a page.
            _ if letter.is_control() && letter != '\n' && letter != '\t' => html.push('\u{fffd}'),
            _ => html.push(letter),
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/ansi.rs"]
mod tests;
