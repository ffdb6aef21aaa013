//! The text of a statement: where its parameters stand, and what `sql!` itself makes of it.

use skep_sql_lock::Dialect;
use skep_sql_lock::directive::quoted;
use skep_sql_lock::text::{Piece, pieces};
use syn::{Error, Expr, LitStr, Result};

use crate::columns::Field;

/// What `{list}` of `in {list}` becomes on SQLite.
const LIST: &str = "(select value from json_each(?))";

/// One literal.
pub(crate) struct Text {
    pub(crate) literal: LitStr,
    /// As it is prepared; on PostgreSQL with `?`, too.
    pub(crate) sql: String,
    /// Each parameter in `sql`, in order.
    pub(crate) parameters: Vec<Parameter>,
}

pub(crate) enum Parameter {
    /// The next argument.
    Argument,
    /// The expression of `in {list}`.
    List(Expr),
    /// A field of the next argument, a struct; behind its last one comes another argument.
    Field(Field),
}

impl Text {
    pub(crate) fn of(dialect: Dialect, literal: LitStr) -> Result<Self> {
        match dialect {
            Dialect::Sqlite => Self::of_sqlite(literal),
            Dialect::Postgres => Self::of_postgres(literal),
        }
    }

    fn of_postgres(literal: LitStr) -> Result<Self> {
        let source = literal.value();
        let mut text = Self { sql: String::with_capacity(source.len()), parameters: Vec::new(), literal };
        let mut at = 0;
        while let Some(piece) = pieces(&source[at..]).next() {
            let here = &source[at..];
            at += match piece {
                Piece::Parameter(_) => text.parameter(here)?,
                Piece::Sign("{") => text.list(here, Self::array)?,
                Piece::Sign("}") => return Err(text.wrong("`}` closes nothing")),
                Piece::Sign("$") => {
                    return Err(
                        text.wrong("parameters have no numbers here: write `?`, and give a value for each in order")
                    );
                }
                piece => text.push(&here[..piece.length()]),
            };
        }
        Ok(text)
    }

    fn of_sqlite(literal: LitStr) -> Result<Self> {
        let source = literal.value();
        let mut text = Self { sql: String::with_capacity(source.len()), parameters: Vec::new(), literal };
        let mut rest = source.as_str();
        while let Some(first) = rest.chars().next() {
            let taken = match quoted(rest) {
                Some(length) => text.push(&rest[..length]),
                None if first == '?' => text.parameter(rest)?,
                None if first == '{' => text.list(rest, Self::json)?,
                None if first == '}' => return Err(text.wrong("`}` closes nothing")),
                None => {
                    text.reject_name(rest)?;
                    text.push(&rest[..word(rest).max(first.len_utf8())])
                }
            };
            rest = &rest[taken..];
        }
        Ok(text)
    }

    /// How many arguments it takes.
    pub(crate) fn values(&self) -> usize {
        let takes = |parameter: &&Parameter| match parameter {
            Parameter::Argument => true,
            Parameter::List(_) => false,
            Parameter::Field(field) => field.is_last,
        };
        self.parameters.iter().filter(takes).count()
    }

    fn push(&mut self, part: &str) -> usize {
        self.sql.push_str(part);
        part.len()
    }

    fn parameter(&mut self, rest: &str) -> Result<usize> {
        if rest[1..].starts_with(|next: char| next.is_ascii_digit()) {
            return Err(self.wrong("parameters have no numbers here: write `?`, and give a value for each in order"));
        }
        self.parameters.push(Parameter::Argument);
        Ok(self.push("?"))
    }

    /// `{list}`, whose expression is an iterator.
    fn list(&mut self, rest: &str, write: fn(&mut Self)) -> Result<usize> {
        let end =
            rest.find('}').ok_or_else(|| self.wrong("`{` is not closed; `in {list}` takes the values of `list`"))?;
        let inside = LitStr::new(&rest[1..end], self.literal.span());
        if let Some(field) = Field::of(&inside) {
            self.parameters.push(Parameter::Field(field?));
            self.push("?");
            return Ok(end + 1);
        }
        let is_after_in = self.sql.trim_end().to_ascii_lowercase().ends_with("in");
        if !is_after_in {
            let help = "`{...}` stands after `in`, for a list of values: `where id in {ids}`. A single value is a `?`, \
                        and its argument follows the text";
            return Err(self.wrong(help));
        }
        let list = inside.parse::<Expr>()?;
        self.parameters.push(Parameter::List(list));
        write(self);
        Ok(end + 1)
    }

    fn json(&mut self) {
        self.push(LIST);
    }

    /// `a in {list}` becomes `a = any(?)`, and `a not in {list}` `a <> all(?)`.
    fn array(&mut self) {
        let before = |text: &str, word: &str| {
            let start = text.trim_end().len().checked_sub(word.len())?;
            let is_word = text.get(start..)?.trim_end().eq_ignore_ascii_case(word)
                && !text[..start].ends_with(|last: char| last.is_alphanumeric() || last == '_');
            is_word.then_some(start)
        };
        let Some(start) = before(&self.sql, "in") else { return };
        self.sql.truncate(start);
        let not = before(&self.sql, "not");
        self.sql.truncate(not.unwrap_or(start));
        self.push(if not.is_some() { "<> all(?)" } else { "= any(?)" });
    }

    /// SQLite knows `:name`, `@name` and `$name` as well.
    fn reject_name(&self, rest: &str) -> Result<()> {
        let is_name = rest.starts_with([':', '@', '$'])
            && rest[1..].starts_with(|next: char| next.is_alphabetic() || next == '_');
        if is_name {
            let name = &rest[..=word(&rest[1..])];
            return Err(self.wrong(&format!("`{name}`: write `?`, and give a value for each in order after the text")));
        }
        Ok(())
    }

    fn wrong(&self, help: &str) -> Error {
        Error::new(self.literal.span(), help)
    }
}

/// How many bytes of a name or number the text begins with.
fn word(text: &str) -> usize {
    text.find(|next: char| !(next.is_alphanumeric() || next == '_' || next == '$')).unwrap_or(text.len())
}

/// The text with `"name!"` as `"name"`.
pub(crate) fn without_marks(sql: &str) -> String {
    let mut plain = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let taken = quoted(rest).unwrap_or(first.len_utf8());
        let part = &rest[..taken];
        match part.strip_suffix("!\"").filter(|name| name.len() > 1 && name.starts_with('"')) {
            Some(name) => plain.extend([name, "\""]),
            None => plain.push_str(part),
        }
        rest = &rest[taken..];
    }
    plain
}

/// The text with `?1`, `?2`, ... for each `?`.
pub(crate) fn numbered(sql: &str) -> String {
    let mut numbered = String::with_capacity(sql.len() + 8);
    let (mut rest, mut number) = (sql, 0);
    while let Some(first) = rest.chars().next() {
        let taken = quoted(rest).unwrap_or(first.len_utf8());
        numbered.push_str(&rest[..taken]);
        if first == '?' {
            number += 1;
            numbered.push_str(&number.to_string());
        }
        rest = &rest[taken..];
    }
    numbered
}

/// The word that the statement begins with.
pub(crate) fn first_word(sql: &str) -> &str {
    let mut rest = sql.trim_start();
    while rest.starts_with("--") || rest.starts_with("/*") {
        rest = rest[quoted(rest).unwrap_or(rest.len())..].trim_start();
    }
    let rest = rest.trim_start_matches('(');
    &rest[..word(rest)]
}

/// True if a second statement follows the first.
pub(crate) fn has_more(sql: &str) -> bool {
    let mut rest = sql;
    let mut ended = false;
    while let Some(first) = rest.chars().next() {
        let comment = rest.starts_with("--") || rest.starts_with("/*");
        let taken = quoted(rest).unwrap_or(first.len_utf8());
        if ended && !comment && !first.is_whitespace() && first != ';' {
            return true;
        }
        ended |= first == ';';
        rest = &rest[taken..];
    }
    false
}

#[cfg(test)]
#[path = "../tests/unit/text.rs"]
mod tests;
