//! Rust as a flat row of words, so that a rule finds names also inside of macros, and never in text or comments.

use std::cell::OnceCell;
use std::str::FromStr;

use proc_macro2::{Delimiter, Group, LexError, TokenStream, TokenTree};

use super::source::Source;

/// An identifier, a punctuation mark or a bracket; a literal is an empty word.
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// The tokens of a file, found once for all rules.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    stream: OnceCell<Result<TokenStream, LexError>>,
    flat: OnceCell<(Vec<Token>, Vec<Token>)>,
}

/// The tokens of a file, as parsers read them.
pub(crate) fn stream(source: &Source) -> Result<TokenStream, &LexError> {
    source.tokens.stream.get_or_init(|| TokenStream::from_str(&source.text)).as_ref().cloned()
}

/// All tokens of a file, or none if it is no Rust: then `functions` says so.
pub(crate) fn all(source: &Source) -> &[Token] {
    &both(source).0
}

/// Like [`all`], without the items under `#[cfg(test)]` and `#[test]`.
pub(crate) fn without_tests(source: &Source) -> &[Token] {
    &both(source).1
}

/// The lines on which these words follow each other, `path` also through the braces of a `use`:
/// `["thread", "::", "spawn"]` is found in `thread::spawn` and in `thread::{self, spawn}`.
pub(crate) fn find<'a>(tokens: &'a [Token], words: &'a [&'a str]) -> impl Iterator<Item = usize> + 'a {
    (0..tokens.len()).filter(|&at| follow(&tokens[at..], words)).map(|at| tokens[at].line)
}

fn follow(tokens: &[Token], words: &[&str]) -> bool {
    let Some((word, rest)) = words.split_first() else { return true };
    let Some((token, after)) = tokens.split_first() else { return false };
    if *word == "::" && token.text == ":" && after.first().is_some_and(|next| next.text == ":") {
        return follow(&after[1..], rest) || in_braces(&after[1..], rest);
    }
    token.text == *word && follow(after, rest)
}

/// Whether the words begin anywhere in the braces that open here.
fn in_braces(tokens: &[Token], words: &[&str]) -> bool {
    if tokens.first().is_none_or(|token| token.text != "{") {
        return false;
    }
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ if follow(&tokens[at..], words) => return true,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    false
}

fn both(source: &Source) -> &(Vec<Token>, Vec<Token>) {
    source.tokens.flat.get_or_init(|| {
        let stream = stream(source).unwrap_or_default();
        (flat(stream.clone(), false), flat(stream, true))
    })
}

fn flat(stream: TokenStream, skips_tests: bool) -> Vec<Token> {
    let mut flat = Flat { tokens: Vec::new(), skips_tests };
    flat.add(stream);
    flat.tokens
}

struct Flat {
    tokens: Vec<Token>,
    skips_tests: bool,
}

impl Flat {
    fn add(&mut self, stream: TokenStream) {
        // Inside of an item that only tests see: up to its braces, or its semicolon.
        let mut in_test = false;
        let mut after_hash = false;
        for tree in stream {
            if let TokenTree::Group(group) = &tree {
                in_test |= self.skips_tests && after_hash && is_test_attribute(group);
            }
            after_hash = matches!(&tree, TokenTree::Punct(mark) if mark.as_char() == '#');
            if in_test {
                in_test = !ends_item(&tree);
            } else {
                self.add_one(tree);
            }
        }
    }

    fn add_one(&mut self, tree: TokenTree) {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Ident(name) => self.push(name.to_string(), line),
            TokenTree::Punct(mark) => self.push(mark.as_char().to_string(), line),
            TokenTree::Literal(_) => self.push(String::new(), line),
            TokenTree::Group(group) => {
                let (open, close) = brackets(group.delimiter());
                self.push(open.to_owned(), line);
                let end = group.span_close().start().line;
                self.add(group.stream());
                self.push(close.to_owned(), end);
            }
        }
    }

    fn push(&mut self, text: String, line: usize) {
        self.tokens.push(Token { text, line });
    }
}

fn is_test_attribute(group: &Group) -> bool {
    let text: String = group.stream().to_string().split_whitespace().collect();
    group.delimiter() == Delimiter::Bracket
        && (text == "test" || text == "cfg(test)" || text.starts_with("cfg(all(test,"))
}

fn ends_item(tree: &TokenTree) -> bool {
    match tree {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(mark) => mark.as_char() == ';',
        _ => false,
    }
}

fn brackets(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, words: &[&str]) -> Vec<usize> {
        find(without_tests(&Source::new("a.rs", text)), words).collect()
    }

    #[test]
    fn a_path_is_found_in_all_its_forms() {
        let words = ["thread", "::", "spawn"];
        assert_eq!(found("fn a() {\n    std::thread::spawn(b);\n}", &words), [2]);
        assert_eq!(found("use std::{thread::{self, spawn}, io};", &words), [1]);
        assert_eq!(found("use std::thread; fn a() { wait!(thread :: spawn) }", &words), [1]);
        assert_eq!(found("use std::thread::{self, Thread}; fn spawn() {}", &words), [0; 0]);
    }

    #[test]
    fn text_and_comments_hold_no_names() {
        assert_eq!(found("// unsafe\n/// unsafe\nconst A: &str = \"unsafe\";", &["unsafe"]), [0; 0]);
    }

    #[test]
    fn what_only_tests_see_is_left_out() {
        let text = "#[cfg(test)]\nmod tests {\n    fn a() { unsafe {} }\n}\nfn b() { unsafe {} }";
        assert_eq!(found(text, &["unsafe"]), [5]);
        assert_eq!(found("#[cfg(test)]\nuse unsafe_thing;\nunsafe fn b() {}", &["unsafe"]), [3]);
        assert_eq!(found("#[cfg(not(test))]\nunsafe fn b() {}", &["unsafe"]), [2]);
    }
}
