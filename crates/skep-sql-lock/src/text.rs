//! The text of a statement, as PostgreSQL wants it: `?` becomes `$1`, and `??` is the operator `?`.
//!
//! It also finds what must not run on a connection that others use. Nothing is parsed beyond words, quotes and
//! comments.

/// A statement as PostgreSQL is given it.
#[derive(Debug, PartialEq, Eq)]
pub struct Text {
    /// With `$1`, `$2`, ...
    pub sql: String,
    /// What it does.
    pub effect: Effect,
    /// It may wait for locks that transactions hold.
    pub may_wait: bool,
    /// It changes settings until its transaction ends.
    pub alters: bool,
}

/// What a statement does to tables, but for what functions do that it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It changes nothing.
    Reads,
    /// It writes, and the number of rows that PostgreSQL gives says how many.
    CountsWrites,
    /// It writes, and nothing says whether it did.
    Writes,
}

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Of letters and digits.
    Word(&'t str),
    /// `?` and the digits behind it.
    Parameter(&'t str),
    /// `??`
    Operator,
    /// A string, a quoted name, a comment.
    Quoted(&'t str),
    /// Any other character.
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
    "load",
    "move",
    "prepare",
    "release",
    "reset",
    "rollback",
    "savepoint",
    "start",
    "unlisten",
];

/// Functions of PostgreSQL that do: their locks stay after the statement and its transaction.
const REFUSED_FUNCTIONS: &[&str] =
    &["pg_advisory_lock", "pg_advisory_lock_shared", "pg_try_advisory_lock", "pg_try_advisory_lock_shared"];

/// What begins or ends a transaction.
const CONTROL: &[&str] = &["abort", "begin", "commit", "end", "prepare", "rollback", "start"];

impl Piece<'_> {
    /// How many bytes of the text it is.
    #[must_use]
    pub fn length(&self) -> usize {
        match self {
            Self::Word(text) | Self::Quoted(text) | Self::Sign(text) => text.len(),
            Self::Parameter(digits) => 1 + digits.len(),
            Self::Operator => 2,
        }
    }
}

impl Text {
    /// With `is_own`, nothing is refused.
    ///
    /// # Errors
    /// Why the statement is refused, or the statement.
    pub fn of(text: &str, is_own: bool) -> Result<Self, String> {
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
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if let Some(refused) = refused(&words).filter(|_| !is_own) {
            return Err(format!(
                "`{refused}` is not for statements of handlers, which share connections: use `transaction()`, `savepoint()` and `stream()`, \
                 `set local`, `set_config(..., true)`, `on commit drop` and `pg_advisory_xact_lock`, \
                 and say what holds for all in the address (`options=-c ...`)"
            ));
        }
        let effect = effect(&words);
        let alters = words.first() == Some(&"set") || words.contains(&"set_config");
        Ok(Self { sql, effect, may_wait: effect != Effect::Reads || locks(&words), alters })
    }
}

/// The text with `"name!"` as `"name"`.
///
/// ```
/// assert_eq!(skep_sql_lock::text::without_marks(r#"select a as "b!", '"c!"'"#), r#"select a as "b", '"c!"'"#);
/// ```
#[must_use]
pub fn without_marks(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(piece) = pieces(rest).next() {
        let (part, after) = rest.split_at(piece.length());
        rest = after;
        match part.strip_suffix("!\"").filter(|name| name.len() > 1 && name.starts_with('"')) {
            Some(name) => plain.extend([name, "\""]),
            None => plain.push_str(part),
        }
    }
    plain
}

/// What in the statement would change the connection for those who use it next.
fn refused<'w>(words: &[&'w str]) -> Option<&'w str> {
    let first = *words.first()?;
    let has = |wanted: &str| words.contains(&wanted);
    let in_order = |wanted: &[&str]| words.windows(wanted.len()).any(|words| words == wanted);
    let is_of_session = |word: &&str| *word == "pg_temp";
    let is_temporary = |word: &&str| ["temp", "temporary"].contains(word) || is_of_session(word);
    let is_of_transaction = words.get(1).is_some_and(|second| ["local", "constraints", "transaction"].contains(second));
    if REFUSED.contains(&first) || first == "set" && !is_of_transaction {
        return Some(first);
    }
    let mut kind = words.iter().skip(1).skip_while(|word| ["or", "replace", "global", "local"].contains(*word));
    let creates =
        first == "create" && (kind.next().is_some_and(is_temporary) || words.iter().take(6).any(is_of_session));
    // `into temp t`, `into local temp t`, `into table pg_temp.t`
    let mut after_into = words.iter().skip_while(|word| **word != "into").skip(1);
    let makes = after_into.find(|word| !["local", "global", "table"].contains(word)).is_some_and(is_temporary);
    if creates && !in_order(&["on", "commit", "drop"]) || makes && first != "insert" {
        return words.iter().find(|word| is_temporary(word)).copied();
    }
    // The rule of this view changes settings of the connection.
    if first == "update" && has("pg_settings") {
        return Some("pg_settings");
    }
    let sets = has("set_config") && (has("false") || !has("true"));
    let is_refused = |word: &&&str| REFUSED_FUNCTIONS.contains(word) || sets && **word == "set_config";
    words.iter().find(is_refused).copied()
}

/// True for a read that takes locks which others may have.
fn locks(words: &[&str]) -> bool {
    let of_rows = |pair: &[&str]| pair[0] == "for" && ["update", "no", "share", "key"].contains(&pair[1]);
    words.windows(2).any(of_rows) || words.iter().any(|word| word.starts_with("pg_advisory"))
}

fn effect(words: &[&str]) -> Effect {
    let has = |names: &[&str]| words.iter().any(|word| names.contains(word));
    match words.first().copied().unwrap_or_default() {
        "select" | "values" | "table" | "show" if !has(&["into"]) => Effect::Reads,
        "with" if !has(&["insert", "update", "delete", "merge", "into"]) => Effect::Reads,
        // A `with` in it may change something of its own.
        "insert" | "update" | "delete" if !has(&["with"]) => Effect::CountsWrites,
        _ => Effect::Writes,
    }
}

/// The first statement of several that begins or ends a transaction: where it stands.
pub fn first_control(text: &str) -> Option<usize> {
    let is_control = |at: &usize| match first(&text[*at..]) {
        Some((Piece::Word(word), _)) => CONTROL.iter().any(|control| word.eq_ignore_ascii_case(control)),
        _ => false,
    };
    statement_starts(text).find(is_control)
}

/// Where the statements of a text begin, as far as semicolons between them say. Those between `begin atomic` and its
/// `end` belong to their function.
pub fn statement_starts(text: &str) -> impl Iterator<Item = usize> {
    let (mut begins, mut at, mut depth, mut last) = (true, 0, 0_u32, "");
    std::iter::from_fn(move || {
        loop {
            let (piece, length) = first(&text[at..])?;
            let here = at;
            at += length;
            match piece {
                Piece::Sign(";") => begins = depth == 0,
                Piece::Word(word) => {
                    let is = |word: &str, name: &str| word.eq_ignore_ascii_case(name);
                    if is(last, "begin") && is(word, "atomic") || depth > 0 && is(word, "case") {
                        depth += 1;
                    } else if is(word, "end") {
                        depth = depth.saturating_sub(1);
                    }
                    last = word;
                    if std::mem::take(&mut begins) {
                        return Some(here);
                    }
                }
                _ => {}
            }
        }
    })
}

/// The pieces, which together are the text.
pub fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
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
        '-' if rest.starts_with("--") => rest.find(['\n', '\r']).unwrap_or(rest.len()),
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

/// To PostgreSQL, all that is not ASCII may be part of a name.
fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || !character.is_ascii()
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
#[path = "../tests/unit/text.rs"]
mod tests;
