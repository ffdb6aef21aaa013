//! `{page 20: number}` and `{keyset 20: cursor}` at the end of a statement: one page of its rows.
//!
//! A page by number becomes `limit ? offset ?`. For a page by keyset the statement is put around: the rows are those of
//! `select * from (statement)`, behind or before the row that the cursor names, in the order of the statement's
//! `order by`.
//!
//! Start reading at [`complete`].

use skep_sql_lock::Dialect;
use skep_sql_lock::message::listed;
use skep_sql_lock::text::{Piece as Part, pieces};
use syn::parse::ParseStream;
use syn::{Error, Expr, Ident, LitStr, Result, Token};

use crate::check::{Checked, Column};
use crate::input::{PARTS, Piece};
use crate::text::Text;

/// How many columns an `order by` for a keyset may have: as many as a cursor.
const MOST_KEYS: usize = 4;

const ORDER: &str = "a keyset needs `order by` and names of columns of the answer, such as `order by published desc, id desc`, at the end of \
                     the text before it";

/// One page of the rows.
pub(crate) struct Page {
    /// `page` or `keyset`, for messages.
    word: Ident,
    /// How many rows a page has.
    pub(crate) size: Expr,
    /// Its number, or its cursor.
    pub(crate) at: Expr,
    /// By which columns rows are in order, in lower case; none for a page by number.
    pub(crate) keys: Vec<String>,
    /// What ends the statement: for the first page, for one behind a row, for one before a row; or for any by number.
    pub(crate) texts: Vec<Text>,
}

/// `page 20: number`, `keyset 20: cursor`
pub(crate) fn parse(dialect: Dialect, content: ParseStream<'_>) -> Result<Page> {
    let word = content.parse::<Ident>()?;
    let literal = |text: &str| LitStr::new(text, word.span());
    let texts = match word.to_string().as_str() {
        "page" => vec![Text::of(dialect, literal("limit ? offset ?"))?],
        // They are made when the order is known.
        "keyset" => Vec::new(),
        _ => return Err(Error::new(word.span(), PARTS)),
    };
    let help = |error: Error| {
        let help = format!("expected how many rows a page has, `:` and which page: `{{{word} 20: self.at}}`");
        Error::new(error.span(), help)
    };
    let size = content.parse::<Expr>().map_err(help)?;
    content.parse::<Token![:]>().map_err(help)?;
    let at = content.parse::<Expr>().map_err(help)?;
    if !content.is_empty() {
        return Err(content.error("expected `}` after the page"));
    }
    Ok(Page { word, size, at, keys: Vec::new(), texts })
}

/// The pieces of a statement, with what a page adds to them.
pub(crate) fn complete(dialect: Dialect, mut all: Vec<Piece>) -> Result<Vec<Piece>> {
    let Some(at) = all.iter().position(|piece| matches!(piece, Piece::Page(_))) else { return Ok(all) };
    if at + 1 < all.len() {
        let span = match &all[at] {
            Piece::Page(page) => page.word.span(),
            _ => proc_macro2::Span::call_site(),
        };
        return Err(Error::new(span, "a page is the end of a statement: nothing may follow"));
    }
    let Some(Piece::Page(page)) = all.pop() else { return Ok(all) };
    if !page.texts.is_empty() {
        all.push(Piece::Page(page));
        return Ok(all);
    }
    let literal = match all.pop() {
        Some(Piece::Always(text)) => text.literal,
        _ => return Err(Error::new(page.word.span(), ORDER)),
    };
    let source = literal.value();
    let (before, order) = split(&source).ok_or_else(|| Error::new(literal.span(), ORDER))?;
    let order = Order::of(order).map_err(|help| Error::new(literal.span(), help))?;
    let text = |text: &str| Text::of(dialect, LitStr::new(text, literal.span()));
    all.insert(0, Piece::Always(text("select * from (")?));
    all.push(Piece::Always(text(before)?));
    let texts = order.texts().iter().map(|one| text(one)).collect::<Result<Vec<_>>>()?;
    all.push(Piece::Page(Box::new(Page { keys: order.keys, texts, ..*page })));
    Ok(all)
}

/// What stands before the last `order by` that is in no parentheses, and what it orders by.
fn split(source: &str) -> Option<(&str, &str)> {
    let (mut depth, mut at, mut found) = (0_u32, 0, None);
    // Where an `order` stands after which nothing but blanks came.
    let mut order = None;
    for piece in pieces(source) {
        let word = match piece {
            Part::Word(word) if depth == 0 => word,
            Part::Sign(sign) if sign.trim().is_empty() => "",
            _ => "?",
        };
        match piece {
            Part::Sign("(") => depth += 1,
            Part::Sign(")") => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += piece.length();
        if word.eq_ignore_ascii_case("order") {
            order = Some(at - word.len());
        } else if word.eq_ignore_ascii_case("by") && order.is_some() {
            found = order.take().map(|start| (&source[..start], &source[at..]));
        } else if !word.is_empty() {
            order = None;
        }
    }
    found
}

/// Columns, and whether the greatest come first.
struct Order {
    keys: Vec<String>,
    descends: bool,
}

impl Order {
    /// Of what follows `order by`.
    fn of(text: &str) -> std::result::Result<Self, String> {
        let (mut keys, mut directions) = (Vec::new(), Vec::new());
        for term in text.trim().trim_end_matches(';').split(',') {
            let words: Vec<String> = term.split_whitespace().map(str::to_ascii_lowercase).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let (name, descends) = match words.as_slice() {
                [name] | [name, "asc"] => (*name, false),
                [name, "desc"] => (*name, true),
                _ => return Err(format!("`order by{text}`: {ORDER}")),
            };
            let is_name = |c: char| c.is_alphanumeric() || c == '_';
            if !name.chars().all(is_name) || name.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(format!(
                    "a cursor is compared with columns of the answer, and `{name}` is no name of one: give it a name with `as` among the columns, \
                     and order by that"
                ));
            }
            keys.push(name.to_owned());
            directions.push(descends);
        }
        let descends = directions[0];
        if directions.iter().any(|direction| *direction != descends) {
            return Err("a keyset is compared as a whole: order by all its columns `desc`, or by none".to_owned());
        }
        if keys.len() > MOST_KEYS {
            return Err(format!("a keyset has {MOST_KEYS} columns at most, and this `order by` has {}", keys.len()));
        }
        Ok(Self { keys, descends })
    }

    /// The ends of the statement: for the first page, for one behind a row, for one before a row.
    fn texts(&self) -> [String; 3] {
        let columns = self.keys.join(", ");
        let marks = vec!["?"; self.keys.len()].join(", ");
        let order = |descends: bool| {
            let keys = self.keys.iter().map(|key| if descends { format!("{key} desc") } else { key.clone() });
            format!("order by {} limit ?", keys.collect::<Vec<_>>().join(", "))
        };
        let (behind, before) = if self.descends { ("<", ">") } else { (">", "<") };
        let (order, reversed) = (order(self.descends), order(!self.descends));
        [
            format!(") as listed {order}"),
            format!(") as listed where ({columns}) {behind} ({marks}) {order}"),
            format!(") as listed where ({columns}) {before} ({marks}) {reversed}"),
        ]
    }
}

impl Page {
    /// An error of the database, which has seen more than was written.
    pub(crate) fn explain(&self, error: String) -> String {
        if self.keys.is_empty() || !error.contains("as listed") {
            return error;
        }
        let keys = listed(self.keys.iter().map(String::as_str));
        format!(
            "{error}\nnote: the cursor of `{{keyset ...}}` is compared with columns of the answer: name {keys} among them"
        )
    }

    /// What must hold for no row to be left out, or to come twice: `statements` are all that the parts make, `columns`
    /// those of their answer.
    pub(crate) fn check(&self, statements: &[Checked], columns: &[Column]) -> Result<()> {
        let wrong = |help: String| Err(Error::new(self.word.span(), help));
        if self.keys.is_empty() {
            let is_ordered = |statement: &Checked| split(&statement.sql).is_some();
            return if statements.iter().all(is_ordered) {
                Ok(())
            } else {
                wrong(
                    "pages need an order: without `order by`, a row may be on two of them and another on none"
                        .to_owned(),
                )
            };
        }
        for key in &self.keys {
            let Some(column) = columns.iter().find(|column| column.name.eq_ignore_ascii_case(key)) else {
                let names = listed(columns.iter().map(|column| column.name.as_str()));
                return wrong(format!(
                    "`{key}` is no column of the answer, which has {names}: a cursor is made of what a row has"
                ));
            };
            if column.ty.nullable && !column.asserted {
                return wrong(format!(
                    "`{key}` may be NULL, which is neither before nor behind another row: order by `coalesce(...) as {key}`, or make the \
                     column `not null`"
                ));
            }
        }
        let last = self.keys.last().and_then(|key| columns.iter().find(|column| column.name.eq_ignore_ascii_case(key)));
        if let Some(last) = last.filter(|last| !last.ty.unique) {
            return wrong(format!(
                "two rows may have the same `{}`, and one of them would be left out between two pages: order by a unique column last, such as \
                 the primary key of the table that the rows come from. What is joined must be one row for each: by `=` with its key",
                last.name
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "../tests/unit/page.rs"]
mod tests;
