//! `{columns of Post}` and `{values of Post}`: the columns of a struct with `derive(Row)`, written once.
//!
//! A macro does not see the fields of a type. So the derive makes a macro of the type's name, and `sql!` becomes a call
//! of it: that calls `sql!` again, with the columns in front. Then the texts are rewritten, before anything reads them.
//!
//! Start reading at [`expand`].

use std::borrow::Cow;
use std::collections::HashMap;

use proc_macro2::{Delimiter, Group, Ident, Literal, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Error, LitStr, Path, Result, Token, bracketed, token};

use crate::home::Home;

/// What comes of an input.
pub(crate) enum Expanded {
    /// A call of the macro that knows the columns.
    Asks(TokenStream),
    /// The input without such names, and the structs that it named.
    Input(TokenStream, Structs),
}

/// The fields of a struct, each with its column.
pub(crate) type Columns = Vec<(Ident, String)>;

/// Structs with their columns, by their paths.
#[derive(Default)]
pub(crate) struct Structs(HashMap<String, Columns>);

impl Structs {
    /// `super::Post` is the `Post` that a statement names, and the other way round.
    pub(crate) fn find(&self, name: &Path) -> Option<&Columns> {
        let name = key(name);
        let ends = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with(":: "));
        let is_it = |known: &str| ends(known, &name) || ends(&name, known);
        self.0.get(&name).or_else(|| self.0.iter().find(|(known, _)| is_it(known)).map(|(_, columns)| columns))
    }
}

mod keyword {
    syn::custom_keyword!(columns);
}

/// Puts the columns in the place of the names of their structs, or asks for those which are not known yet.
pub(crate) fn expand(home: Home, input: TokenStream) -> Result<Expanded> {
    if !mentions(input.clone()) {
        return Ok(Expanded::Input(input, Structs::default()));
    }
    let read = |stream: ParseStream<'_>| Ok((known(stream)?, stream.parse::<TokenStream>()?));
    let (known, rest): (HashMap<String, Columns>, TokenStream) = read.parse2(input.clone())?;
    let mut texts = Texts { known, missing: None };
    let rest = texts.rewrite(rest)?;
    Ok(match texts.missing {
        Some(name) => {
            let sql = home.sql();
            Expanded::Asks(quote!(#name! { [#sql] [#name] #input }))
        }
        None => Expanded::Input(rest, Structs(texts.known)),
    })
}

/// Most statements name no struct: their tokens stay as they are, with all their places.
fn mentions(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace && mentions(group.stream()),
        TokenTree::Literal(literal) => next(&literal.to_string()).is_some(),
        _ => false,
    })
}

/// `columns [Post] [title "title" body "body_html"];`, as the macros of types write it.
fn known(input: ParseStream<'_>) -> Result<HashMap<String, Columns>> {
    let mut all = HashMap::new();
    while input.peek(keyword::columns) && input.peek2(token::Bracket) {
        input.parse::<keyword::columns>()?;
        let (name, list);
        bracketed!(name in input);
        bracketed!(list in input);
        let mut columns = Columns::new();
        while !list.is_empty() {
            columns.push((list.call(syn::ext::IdentExt::parse_any)?, list.parse::<LitStr>()?.value()));
        }
        input.parse::<Token![;]>()?;
        all.insert(key(&name.parse::<Path>()?), columns);
    }
    Ok(all)
}

fn key(name: &Path) -> String {
    name.to_token_stream().to_string()
}

struct Texts {
    known: HashMap<String, Columns>,
    /// The first struct whose columns are not known.
    missing: Option<Path>,
}

impl Texts {
    fn rewrite(&mut self, tokens: TokenStream) -> Result<TokenStream> {
        tokens.into_iter().map(|token| self.token(token)).collect()
    }

    fn token(&mut self, token: TokenTree) -> Result<TokenTree> {
        match token {
            // Parts have texts of their own.
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let mut inner = Group::new(Delimiter::Brace, self.rewrite(group.stream())?);
                inner.set_span(group.span());
                Ok(inner.into())
            }
            TokenTree::Literal(literal) => self.literal(literal).map(TokenTree::from),
            other => Ok(other),
        }
    }

    fn literal(&mut self, literal: Literal) -> Result<Literal> {
        let Ok(text) = syn::parse2::<LitStr>(literal.to_token_stream()) else { return Ok(literal) };
        let source = text.value();
        let (mut written, mut rest) = (String::new(), source.as_str());
        while let Some((before, what, after)) = next(rest) {
            written.push_str(before);
            let named = LitStr::new(what, text.span()).parse::<Named>().map_err(|_| Error::new(text.span(), NAMED))?;
            if named.of.is_ident("Self") {
                return Err(Error::new(text.span(), NO_SELF));
            }
            match self.known.get(&key(&named.of)) {
                Some(columns) => written.push_str(&named.text(columns, &written)),
                None => _ = self.missing.get_or_insert(named.of),
            }
            rest = after;
        }
        if written.is_empty() && rest.len() == source.len() {
            return Ok(literal);
        }
        written.push_str(rest);
        let mut literal = Literal::string(&written);
        literal.set_span(text.span());
        Ok(literal)
    }
}

/// The next `{columns of ...}` or `{values of ...}`: what stands before it, in it and after it.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let at = ["{columns of ", "{values of "].iter().filter_map(|start| text.find(start)).min()?;
    let end = at + text[at..].find('}')?;
    Some((&text[..at], &text[at + 1..end], &text[end + 1..]))
}

/// What is right.
const NAMED: &str = "expected the name of a struct with `derive(Row)`, as in `{columns of Post}`, `{columns of Post as p}` for a table that \
                     the statement calls `p`, or `{values of Post}`";

const NO_SELF: &str =
    "`Self` has no columns here, since a macro does not know which struct it is: write the name of the struct";

/// `columns of Post as p`
struct Named {
    is_values: bool,
    of: Path,
    /// What the statement calls the table.
    table: Option<Ident>,
}

impl Parse for Named {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let what = input.parse::<Ident>()?;
        input.parse::<Ident>()?;
        let (is_values, of) = (what == "values", input.call(Path::parse_mod_style)?);
        let table = input.parse::<Option<Token![as]>>()?.map(|_| input.parse::<Ident>()).transpose()?;
        if is_values && table.is_some() || !input.is_empty() {
            return Err(input.error(NAMED));
        }
        Ok(Self { is_values, of, table })
    }
}

impl Named {
    fn text(&self, columns: &Columns, before: &str) -> String {
        let last = columns.len().saturating_sub(1);
        let is_set = self.is_values && sets(before);
        let each = columns.iter().enumerate().map(|(nth, (field, column))| {
            let column = quoted(column);
            if !self.is_values {
                return self
                    .table
                    .as_ref()
                    .map_or_else(|| column.clone().into_owned(), |table| format!("{table}.{column}"));
            }
            let (last, of) = (if nth == last { "last " } else { "" }, key(&self.of));
            let value = format!("{{{last}of {of}.{field}}}");
            if is_set { format!("{column} = {value}") } else { value }
        });
        each.collect::<Vec<_>>().join(", ")
    }
}

/// The name as a statement has it: words of SQL in quotes.
fn quoted(column: &str) -> Cow<'_, str> {
    let is_word = RESERVED.split_whitespace().any(|word| word.eq_ignore_ascii_case(column));
    if is_word { format!("\"{column}\"").into() } else { column.into() }
}

/// The words that one of the two databases takes for no name of a column.
const RESERVED: &str = "add all alter analyse analyze and any array as asc asymmetric authorization autoincrement between binary both \
    case cast check collate collation column commit concurrently constraint create cross current_catalog current_date current_role \
    current_schema current_time current_timestamp current_user default deferrable delete desc distinct do drop else end escape except \
    exists false fetch for foreign freeze from full grant group having ilike in index initially inner insert intersect into is isnull join \
    lateral leading left like limit localtime localtimestamp natural not nothing notnull null offset on only or order outer overlaps placing \
    primary references returning right select session_user set similar some symmetric system_user table tablesample then to trailing \
    transaction true union unique update user using values variadic verbose when where window with";

/// Is it the list of an `update` or upsert that this text ends in?
fn sets(before: &str) -> bool {
    let mut words = before.rsplit(|c: char| !(c.is_alphanumeric() || c == '_'));
    words
        .find(|word| ["set", "values", "select", "where"].iter().any(|one| word.eq_ignore_ascii_case(one)))
        .is_some_and(|word| word.eq_ignore_ascii_case("set"))
}

/// `{of Post.title}`, as [`Named::text`] writes it: the struct, its field, and whether that is the last one.
pub(crate) struct Field {
    pub(crate) of: Path,
    pub(crate) name: Ident,
    pub(crate) is_last: bool,
}

impl Field {
    /// Of what stands in braces.
    pub(crate) fn of(inside: &LitStr) -> Option<Result<Self>> {
        let text = inside.value();
        let (text, is_last) = text.strip_prefix("last ").map_or((text.as_str(), false), |text| (text, true));
        let (of, name) = text.strip_prefix("of ")?.rsplit_once('.')?;
        let literal = |text: &str| LitStr::new(text, inside.span());
        let read = || {
            let name = literal(name).parse_with(<Ident as syn::ext::IdentExt>::parse_any)?;
            Ok(Self { of: literal(of).parse_with(Path::parse_mod_style)?, name, is_last })
        };
        Some(read())
    }
}

#[cfg(test)]
#[path = "../tests/unit/columns.rs"]
mod tests;
