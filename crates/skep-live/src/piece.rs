//! Pieces of a page that follow the database: how they are marked in it, and found again.
//!
//! A piece stands between two comments, so it may be anything anywhere: rows of a table, items of a list. The first one
//! has the version, by which a browser says what it shows, and the length, so that nothing within the piece can end it.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};

use skep::html::Html;

/// Marks a piece of a page that follows the database: once a write is committed to a table that the page's
/// [`sql!`](macro@skep::sql) statements read, browsers show the piece as it is then. Its name has letters, digits, `-`
/// and `_`, and no other piece of the page has it.
///
/// Without JavaScript, and without [`LiveApp::live_pages`](crate::LiveApp::live_pages), it is the piece as it is. What
/// differs each time that it is made (a nonce, the time) is sent after each such write, so it belongs outside.
///
/// ```
/// use skep::html::Items;
/// use skep::prelude::*;
/// use skep_live::live;
///
/// fn comments(texts: &[&str]) -> Html {
///     let items: Html<Items> = live("comments", piece! { @for text in texts { li { (text) } } });
///     html! { section { h2 { "Comments" } ol { (items) } } }
/// }
/// assert!(comments(&["Fine."]).as_str().contains("<li>Fine.</li><!--/live comments-->"));
/// ```
///
/// # Panics
/// If the name has other characters, or none.
#[must_use]
pub fn live<C, H>(name: &str, piece: Html<C, H>) -> Html<C, H> {
    assert!(is_name(name), "{name:?} is no name of a live piece: expected letters, digits, - and _");
    let html = piece.as_str();
    Html::trusted_piece(format!("<!--live {name} {:x} {}-->{html}<!--/live {name}-->", version(html), html.len()))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// The same text has the same, in all processes of a build; another build sends a piece once more.
fn version(html: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(html.as_bytes());
    hasher.finish()
}

/// A piece of a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece<'p> {
    pub(crate) name: &'p str,
    pub(crate) version: u64,
    pub(crate) html: &'p str,
}

const START: &str = "<!--live ";

/// The pieces of a page, but for those within others.
pub(crate) fn pieces(page: &str) -> Vec<Piece<'_>> {
    let (mut rest, mut pieces) = (page, Vec::new());
    while let Some(at) = rest.find(START) {
        rest = &rest[at + START.len()..];
        if let Some((piece, behind)) = parse(rest) {
            pieces.push(piece);
            rest = behind;
        }
    }
    pieces
}

/// What stands behind the start of a comment, and what follows.
fn parse(text: &str) -> Option<(Piece<'_>, &str)> {
    let (head, rest) = text.split_once("-->")?;
    let mut words = head.split(' ');
    let name = words.next().filter(|name| is_name(name))?;
    let version = u64::from_str_radix(words.next()?, 16).ok()?;
    let (html, behind) = rest.split_at_checked(words.next()?.parse().ok()?)?;
    let behind = behind.strip_prefix("<!--/live ")?.strip_prefix(name)?.strip_prefix("-->")?;
    Some((Piece { name, version, html }, behind))
}

/// What a browser shows, by the names of pieces: `comments:1a2b3c places:0`.
pub(crate) fn parse_versions(text: &str) -> BTreeMap<String, u64> {
    let version = |word: &str| {
        let (name, version) = word.split_once(':')?;
        Some((name.to_owned(), u64::from_str_radix(version, 16).ok()?))
    };
    text.split(' ').filter_map(version).collect()
}

#[cfg(test)]
#[path = "../tests/unit/piece.rs"]
mod tests;
