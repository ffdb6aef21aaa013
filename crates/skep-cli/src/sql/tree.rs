//! The text in which PostgreSQL stores an analysed statement (`pg_node_tree`): what it found out itself, every name
//! resolved.
//!
//! `{NAME :field value :field value}` is a node, `(...)` a list, `<>` nothing. Which fields there are depends on the
//! version; the ones that are read here are the same from PostgreSQL 14 on.

use std::iter::Peekable;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// With the first value of each field; what follows it are the bytes of constants.
    Object {
        name: String,
        fields: Vec<(String, Node)>,
    },
    List(Vec<Node>),
    Word(String),
    Nothing,
}

/// What a field is that is not there.
const NOTHING: &Node = &Node::Nothing;

impl Node {
    /// `None` if the text is no tree.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut tokens = tokens(text).peekable();
        let node = node(&mut tokens)?;
        tokens.next().is_none().then_some(node)
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Object { name, .. } => name,
            _ => "",
        }
    }

    pub(super) fn get(&self, field: &str) -> &Self {
        match self {
            Self::Object { fields, .. } => {
                fields.iter().find(|(name, _)| name == field).map_or(NOTHING, |(_, value)| value)
            }
            _ => NOTHING,
        }
    }

    pub(super) fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    pub(super) fn number(&self, field: &str) -> i64 {
        self.word(field).parse().unwrap_or(0)
    }

    pub(super) fn oid(&self, field: &str) -> u32 {
        self.word(field).parse().unwrap_or(0)
    }

    pub(super) fn is(&self, field: &str) -> bool {
        self.word(field) == "true"
    }

    pub(super) fn word(&self, field: &str) -> &str {
        match self.get(field) {
            Self::Word(word) => word,
            _ => "",
        }
    }

    /// True for `<>` and for what is not there.
    pub(super) fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// The node and all in it.
    pub(super) fn each<'n>(&'n self, visit: &mut impl FnMut(&'n Self)) {
        visit(self);
        match self {
            Self::Object { fields, .. } => fields.iter().for_each(|(_, value)| value.each(visit)),
            Self::List(items) => items.iter().for_each(|item| item.each(visit)),
            Self::Word(_) | Self::Nothing => {}
        }
    }
}

fn node<'t>(tokens: &mut Peekable<impl Iterator<Item = &'t str>>) -> Option<Node> {
    match tokens.next()? {
        "{" => {
            let name = tokens.next()?.to_owned();
            let mut fields = Vec::new();
            loop {
                let token = tokens.next()?;
                if token == "}" {
                    return Some(Node::Object { name, fields });
                }
                // A first value may begin with a colon, too: it is a name that somebody gave.
                let field = token.strip_prefix(':')?.to_owned();
                fields.push((field, node(tokens)?));
                while tokens.peek().is_some_and(|next| *next != "}" && !next.starts_with(':')) {
                    node(tokens)?;
                }
            }
        }
        "(" => {
            let mut items = Vec::new();
            while *tokens.peek()? != ")" {
                items.push(node(tokens)?);
            }
            tokens.next();
            Some(Node::List(items))
        }
        "<>" => Some(Node::Nothing),
        "}" | ")" => None,
        word => Some(Node::Word(word.replace('\\', ""))),
    }
}

/// Signs, and what stands between them and blanks. A backslash takes from the next character what it would mean.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\n', '\t']);
        let first = rest.chars().next()?;
        let length = if "{}()".contains(first) { 1 } else { word(rest) };
        let (token, after) = rest.split_at(length);
        rest = after;
        Some(token)
    })
}

fn word(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.find(|c: char| {
        let ends = !is_escaped && " \n\t{}()".contains(c);
        is_escaped = !is_escaped && c == '\\';
        ends
    });
    end.unwrap_or(text.len())
}

#[cfg(test)]
#[path = "../../tests/unit/sql/tree.rs"]
mod tests;
