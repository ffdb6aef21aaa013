//! Which migrations an older version of the program can work with: those that only add.
//!
//! While one version replaces another, both use the same database. What only adds (tables, columns, indexes, rows)
//! leaves an older version what it knows. What renames, drops, forbids or deletes may not. That is all that is said
//! here: what a statement means to a program, nobody can read off it.

/// A word in small letters, a quoted name, or a sign; and where it begins.
type Token = (usize, String);

/// The first statement that does more than add, and the number of its line.
///
/// These only add: `create table`, `view`, `trigger`, `index`; `create unique index` on a table of the same text;
/// `alter table ... add` of columns; `insert` and `insert or ignore`; `update`; `select`; `drop index`. An index, a
/// trigger or a column that calls one of `new_functions`, which only the new version has, keeps the older one from
/// writing.
pub(crate) fn first_other<'t>(text: &'t str, new_functions: &[String]) -> Option<(usize, &'t str)> {
    let mut made: Vec<String> = Vec::new();
    for statement in statements(text) {
        let words: Vec<&str> = statement.iter().map(|(_, word)| word.as_str()).collect();
        // `create temporary table`, `create table if not exists`: the same for our purpose.
        let words: Vec<&str> =
            words.into_iter().filter(|word| !["temp", "temporary", "if", "not", "exists"].contains(word)).collect();
        let adds = match words.as_slice() {
            ["create", "table", name, ..] | ["create", "virtual", "table", name, ..] => {
                made.push((*name).to_owned());
                true
            }
            ["create", "unique", "index", _, "on", table, ..] => made.iter().any(|name| name == table),
            ["insert", "or", how, ..] => *how == "ignore",
            ["create", "view" | "trigger" | "index", ..]
            | ["drop", "index", ..]
            | ["insert" | "update" | "select", ..]
            | [] => true,
            ["with", rest @ ..] => !rest.contains(&"delete"),
            ["alter", "table", _, changes @ ..] => only_adds_columns(changes),
            _ => false,
        };
        let begin = statement.first().map_or(0, |(begin, _)| *begin);
        let is_of_old_tables =
            matches!(words.as_slice(), ["create", "index" | "unique" | "trigger", ..] | ["alter", ..]);
        let calls_new =
            is_of_old_tables && words.iter().any(|word| new_functions.iter().any(|new| new.as_str() == *word));
        if !adds || calls_new {
            let line = text[begin..].lines().next().unwrap_or_default().trim();
            return Some((text[..begin].matches('\n').count() + 1, line));
        }
    }
    None
}

/// PostgreSQL has several changes in one `alter table`, with commas between.
fn only_adds_columns(changes: &[&str]) -> bool {
    let mut depth = 0;
    let is_comma = |word: &&str| {
        depth += i32::from(*word == "(") - i32::from(*word == ")");
        depth == 0 && *word == ","
    };
    let adds = |change: &[&str]| match change {
        // What a constraint forbids, an older version may do.
        ["add", what, ..] => !["check", "constraint", "exclude", "foreign", "primary", "unique"].contains(what),
        _ => false,
    };
    changes.split(is_comma).all(adds)
}

/// A trigger of SQLite has statements within, after `begin`, and ends with `end`. One of PostgreSQL calls a function.
fn statements(text: &str) -> Vec<Vec<Token>> {
    let mut all = Vec::new();
    let mut now: Vec<Token> = Vec::new();
    for token in tokens(text) {
        if token.1 != ";" {
            now.push(token);
            continue;
        }
        let is_trigger = now.iter().take(3).any(|(_, word)| word == "trigger");
        let has_body = is_trigger && now.iter().any(|(_, word)| word == "begin");
        if !has_body || now.last().is_some_and(|(_, word)| word == "end") {
            all.push(std::mem::take(&mut now));
        }
    }
    all.push(now);
    all.retain(|statement| !statement.is_empty());
    all
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let begin = text.len() - rest.len();
        let length = match first {
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '\'' | '"' | '`' | '[' => {
                let close = if first == '[' { ']' } else { first };
                let length = rest[1..].find(close).map_or(rest.len(), |end| end + 2);
                if first != '\'' {
                    tokens.push((begin, rest[1..length].trim_end_matches(close).to_ascii_lowercase()));
                }
                length
            }
            first if first.is_whitespace() => first.len_utf8(),
            first if first.is_alphanumeric() || first == '_' => {
                let is_end = |character: char| !(character.is_alphanumeric() || character == '_');
                let length = rest.find(is_end).unwrap_or(rest.len());
                tokens.push((begin, rest[..length].to_ascii_lowercase()));
                length
            }
            sign => {
                tokens.push((begin, sign.to_string()));
                sign.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    tokens
}
