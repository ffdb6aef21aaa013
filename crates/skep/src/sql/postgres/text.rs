//! The text of a statement, as PostgreSQL wants it: `?` becomes `$1`, and `??` is the operator `?`.
//!
//! It also finds what must not run on a connection that others use. Nothing is parsed beyond words, quotes and comments.

/// A statement as PostgreSQL is given it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) sql: String,
    /// It changes nothing, but for what functions do that it calls.
    pub(super) reads_only: bool,
}

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'t> {
    Word(&'t str),
    /// `?` and the digits behind it.
    Parameter(&'t str),
    /// `??`
    Operator,
    /// A string, a quoted name, a comment.
    Quoted(&'t str),
    Sign(&'t str),
}

/// Statements that change or end what a connection is for those who use it next.
const REFUSED: &[&str] = &[
    "abort",
    "begin",
    "close",
    "commit",
    "copy",
    "deallocate",
    "declare",
    "discard",
    "end",
    "execute",
    "fetch",
    "listen",
    "move",
    "prepare",
    "release",
    "reset",
    "rollback",
    "savepoint",
    "start",
    "unlisten",
];

/// What begins or ends a transaction.
const CONTROL: &[&str] = &["abort", "begin", "commit", "rollback", "start"];

impl Text {
    /// Why the statement is refused, or the statement.
    pub(super) fn of(text: &str, is_own: bool) -> Result<Self, String> {
        let (mut sql, mut count) = (String::with_capacity(text.len() + 8), 0_u32);
        let mut words: Vec<String> = Vec::new();
        for piece in pieces(text) {
            match piece {
                Piece::Parameter("") => {
                    count += 1;
                    sql.push('$');
                    sql.push_str(&count.to_string());
                }
                Piece::Parameter(number) => sql.extend(["$", number]),
                Piece::Operator => sql.push('?'),
                Piece::Word(word) => {
                    sql.push_str(word);
                    words.push(word.to_ascii_lowercase());
                }
                Piece::Quoted(text) | Piece::Sign(text) => sql.push_str(text),
            }
        }
        let first = words.first().map_or("", String::as_str);
        let second = words.get(1).map_or("", String::as_str);
        let sets = first == "set" && !["local", "constraints"].contains(&second);
        if !is_own && (sets || REFUSED.contains(&first)) {
            return Err(format!(
                "`{first}` is not for statements of handlers, which share connections: use `transaction()`, `savepoint()` and `stream()`, \
                 and say what holds for all in the address (`options=-c ...`)"
            ));
        }
        let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
        let reads_only = match first {
            "select" | "values" | "table" | "show" => !has(&["into"]),
            "with" => !has(&["insert", "update", "delete", "merge", "into"]),
            _ => false,
        };
        Ok(Self { sql, reads_only })
    }
}

/// The first statement of several that begins or ends a transaction: where it stands.
pub(super) fn first_control(text: &str) -> Option<usize> {
    let is_control = |at: &usize| match first(&text[*at..]) {
        Some((Piece::Word(word), _)) => CONTROL.iter().any(|control| word.eq_ignore_ascii_case(control)),
        _ => false,
    };
    statement_starts(text).find(is_control)
}

/// Where the statements of a text begin, as far as semicolons between them say.
pub(super) fn statement_starts(text: &str) -> impl Iterator<Item = usize> {
    let (mut begins, mut at) = (true, 0);
    std::iter::from_fn(move || {
        loop {
            let (piece, length) = first(&text[at..])?;
            let here = at;
            at += length;
            match piece {
                Piece::Sign(";") => begins = true,
                Piece::Word(_) if std::mem::take(&mut begins) => return Some(here),
                _ => {}
            }
        }
    })
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, length) = first(rest)?;
        rest = &rest[length..];
        Some(piece)
    })
}

fn first(rest: &str) -> Option<(Piece<'_>, usize)> {
    let character = rest.chars().next()?;
    let length = match character {
        '\'' => quoted(rest, '\'', false),
        '"' => quoted(rest, '"', false),
        '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
        '/' if rest.starts_with("/*") => comment(rest),
        '$' if dollar_tag(rest).is_some() => {
            let tag = dollar_tag(rest)?;
            rest[tag.len()..].find(tag).map_or(rest.len(), |end| end + 2 * tag.len())
        }
        'e' | 'E' if rest[1..].starts_with('\'') => 1 + quoted(&rest[1..], '\'', true),
        '?' if rest[1..].starts_with('?') => return Some((Piece::Operator, 2)),
        '?' => {
            let digits = rest[1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - 1);
            return Some((Piece::Parameter(&rest[1..=digits]), 1 + digits));
        }
        _ if is_word(character) => {
            let length = rest.find(|c: char| !(is_word(c) || c == '$')).unwrap_or(rest.len());
            return Some((Piece::Word(&rest[..length]), length));
        }
        _ => return Some((Piece::Sign(&rest[..character.len_utf8()]), character.len_utf8())),
    };
    Some((Piece::Quoted(&rest[..length]), length))
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// A doubled quote stands for itself.
fn quoted(rest: &str, quote: char, escapes: bool) -> usize {
    let mut characters = rest.char_indices().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        if escapes && character == '\\' {
            characters.next();
        } else if character == quote && characters.next_if(|(_, next)| *next == quote).is_none() {
            return at + 1;
        }
    }
    rest.len()
}

/// One may be in another.
fn comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        let step = if here.starts_with(b"/*") {
            depth += 1;
            2
        } else if here.starts_with(b"*/") {
            depth -= 1;
            2
        } else {
            1
        };
        at += step;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// `$$` or `$name$`, which opens and closes a string.
fn dollar_tag(rest: &str) -> Option<&str> {
    let end = rest[1..].find('$')? + 1;
    let name = &rest[1..end];
    let is_name = name.chars().all(is_word) && !name.starts_with(|c: char| c.is_ascii_digit());
    is_name.then(|| &rest[..=end])
}

#[cfg(test)]
#[path = "../../../tests/unit/sql/postgres/text.rs"]
mod tests;
