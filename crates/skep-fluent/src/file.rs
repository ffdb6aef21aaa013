//! Files of messages, read.

use std::collections::BTreeMap;

use fluent_syntax::ast::{self, Entry as Node};
use fluent_syntax::parser;

use crate::problem::Problem;

/// A file of messages, and its text.
#[derive(Clone, Copy, Debug)]
pub struct TextFile<'s> {
    /// As problems name it.
    pub path: &'s str,
    /// What is in it.
    pub text: &'s str,
}

/// The files of a language.
#[derive(Clone, Copy, Debug)]
pub struct Language<'f, 's> {
    /// As HTML's `lang` names it: `en`, `pt-BR`.
    pub tag: &'f str,
    /// In any order.
    pub files: &'f [TextFile<'s>],
}

pub(crate) type Pattern<'s> = ast::Pattern<&'s str>;

/// A message, an attribute of one, or a term.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'s> {
    pub(crate) pattern: Pattern<'s>,
    pub(crate) file: &'s str,
    pub(crate) line: usize,
}

impl Entry<'_> {
    pub(crate) fn problem(&self, text: impl Into<String>) -> Problem {
        Problem::new(self.file, self.line, text)
    }
}

/// The entries of a language: `greeting`, `greeting.title`, `-brand`.
pub(crate) type Entries<'s> = BTreeMap<String, Entry<'s>>;

/// Reads the files of a language.
pub(crate) fn read<'s>(language: &Language<'_, 's>, problems: &mut Vec<Problem>) -> Entries<'s> {
    let mut entries = Entries::new();
    for source in language.files {
        let resource = parser::parse_runtime(source.text).unwrap_or_else(|(resource, errors)| {
            let wrong = |error: &parser::ParserError| {
                Problem::new(source.path, line_of(source.text, error.pos.start), explained(&error.kind))
            };
            problems.extend(errors.iter().map(wrong));
            resource
        });
        for node in resource.body {
            add(node, source, &mut entries, problems);
        }
    }
    entries
}

fn explained(kind: &parser::ErrorKind) -> String {
    match kind {
        parser::ErrorKind::ExpectedCharRange { range } if range.contains('\n') => {
            "expected the end of the line: each variant has a line of its own, and so has the `}` behind them"
                .to_owned()
        }
        _ => format!("{kind}; a text is `id = text`, with `{{ $argument }}` in it"),
    }
}

fn add<'s>(node: Node<&'s str>, source: &TextFile<'s>, entries: &mut Entries<'s>, problems: &mut Vec<Problem>) {
    let (sign, id, value, attributes) = match node {
        Node::Message(message) => ("", message.id.name, message.value, message.attributes),
        Node::Term(term) => ("-", term.id.name, Some(term.value), term.attributes),
        _ => return,
    };
    let own = value.map(|value| (format!("{sign}{id}"), id, value));
    let attributes = attributes.into_iter().map(|one| (format!("{sign}{id}.{}", one.id.name), one.id.name, one.value));
    for (key, name, pattern) in own.into_iter().chain(attributes) {
        let line = line_of(source.text, name.as_ptr() as usize - source.text.as_ptr() as usize);
        let entry = Entry { pattern, file: source.path, line };
        if let Some(other) = entries.get(&key) {
            problems.push(entry.problem(format!("`{key}` is in {}:{} already", other.file, other.line)));
        } else {
            entries.insert(key, entry);
        }
    }
}

/// The number of the line that this byte is in.
fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].split(|byte| *byte == b'\n').count()
}
