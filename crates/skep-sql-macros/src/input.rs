//! What stands between the parentheses of `sql!`.

use proc_macro2::TokenStream;
use quote::quote;
use skep_sql_lock::Dialect;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, LitStr, Pat, Result, Token, Type, braced, token};

use crate::columns::Structs;
use crate::home::Home;
use crate::page::{self, Page};
use crate::text::Text;

/// `sql!([in "folder";] [unscoped "reason";] [Type,] pieces [, arguments])`
pub(crate) struct Input {
    pub(crate) home: Home,
    pub(crate) dialect: Dialect,
    /// The migrations; `migrations` beside `Cargo.toml` unless said.
    pub(crate) folder: Option<LitStr>,
    /// Why it reads or writes the rows of everybody.
    pub(crate) unscoped: Option<LitStr>,
    /// What a row becomes; a struct with the statement's columns unless said.
    pub(crate) rows: Option<Type>,
    pub(crate) pieces: Vec<Piece>,
    /// For each `?` in a text that is always there.
    pub(crate) arguments: Vec<Expr>,
    /// The structs that it named.
    pub(crate) structs: Structs,
}

pub(crate) enum Piece {
    Always(Text),
    /// One of these.
    Choice {
        head: TokenStream,
        alternatives: Vec<Alternative>,
    },
    /// The last one: which page of the rows.
    Page(Box<Page>),
}

/// A part of a statement that is there or not.
pub(crate) struct Alternative {
    /// `Some(tag) =>` of a `match`; nothing for `if`.
    pub(crate) pattern: Option<TokenStream>,
    pub(crate) text: Option<Text>,
    pub(crate) arguments: Vec<Expr>,
}

impl Input {
    /// Which page of the rows is meant, if one is.
    pub(crate) fn page(&self) -> Option<&Page> {
        self.pieces.iter().find_map(|piece| match piece {
            Piece::Page(page) => Some(&**page),
            _ => None,
        })
    }

    /// The first text, for errors that concern all of it.
    pub(crate) fn literal(&self) -> Option<&LitStr> {
        self.pieces.iter().find_map(|piece| match piece {
            Piece::Always(text) => Some(&text.literal),
            Piece::Choice { alternatives, .. } => {
                alternatives.iter().find_map(|one| one.text.as_ref()).map(|text| &text.literal)
            }
            Piece::Page(_) => None,
        })
    }
}

impl Input {
    /// `dialect` is that of the package, or what is wrong with its `Cargo.toml`.
    pub(crate) fn of(
        home: Home,
        dialect: std::result::Result<Dialect, String>,
        input: ParseStream<'_>,
    ) -> Result<Self> {
        let dialect = dialect.map_err(|help| input.error(help))?;
        let folder = if input.peek(Token![in]) { Some(folder(input)?) } else { None };
        let unscoped = unscoped(input)?;
        let mut rows = None;
        if !input.peek(LitStr) && !input.peek(token::Brace) {
            rows = Some(row_type(input)?);
        }
        if !input.peek(LitStr) {
            return Err(input
                .error("expected the text of a statement first, such as \"select title from post where slug = ?\""));
        }
        let mut pieces = Vec::new();
        while input.peek(LitStr) || input.peek(token::Brace) {
            pieces.push(piece(dialect, input)?);
        }
        let pieces = page::complete(dialect, pieces)?;
        let arguments = arguments(input)?;
        Ok(Self { home, dialect, folder, unscoped, rows, pieces, arguments, structs: Structs::default() })
    }
}

fn folder(input: ParseStream<'_>) -> Result<LitStr> {
    input.parse::<Token![in]>()?;
    let folder = input.parse::<LitStr>()?;
    input.parse::<Token![;]>()?;
    Ok(folder)
}

mod keyword {
    syn::custom_keyword!(unscoped);
}

fn unscoped(input: ParseStream<'_>) -> Result<Option<LitStr>> {
    if !input.peek(keyword::unscoped) || input.peek2(Token![,]) || input.peek2(Token![::]) {
        return Ok(None);
    }
    input.parse::<keyword::unscoped>()?;
    let help = "expected the reason why rows of everybody are meant: `unscoped \"the token itself says whose it is\"; \"select ...\"`";
    let reason = input.parse::<LitStr>().map_err(|error| Error::new(error.span(), help))?;
    if reason.value().trim().is_empty() {
        return Err(Error::new(reason.span(), help));
    }
    input
        .parse::<Token![;]>()
        .map_err(|error| Error::new(error.span(), "expected `;` after the reason, and then the statement"))?;
    Ok(Some(reason))
}

fn row_type(input: ParseStream<'_>) -> Result<Type> {
    let explain = |error: Error| {
        let help = "expected the text of a statement as a literal, or a type for its rows and then the text: \
                    `sql!(\"select ...\")`, `sql!(Post, \"select ...\")`";
        Error::new(error.span(), help)
    };
    let rows = input.parse::<Type>().map_err(explain)?;
    input.parse::<Token![,]>().map_err(explain)?;
    if input.peek(LitStr) { Ok(rows) } else { Err(explain(input.error(""))) }
}

/// What may stand in braces.
pub(crate) const PARTS: &str = "expected `{if condition: \"and ...\"}`, `{match value: pattern => \"...\", ...}`, `{page 20: number}` or \
                                `{keyset 20: cursor}`";

fn piece(dialect: Dialect, input: ParseStream<'_>) -> Result<Piece> {
    if input.peek(LitStr) {
        return Text::of(dialect, input.parse()?).map(Piece::Always);
    }
    let content;
    braced!(content in input);
    if content.peek(Token![if]) {
        conditional(dialect, &content)
    } else if content.peek(Token![match]) {
        choice(dialect, &content)
    } else if content.peek(syn::Ident) {
        page::parse(dialect, &content).map(|page| Piece::Page(Box::new(page)))
    } else {
        Err(content.error(PARTS))
    }
}

/// `if condition: "text", arguments`
fn conditional(dialect: Dialect, content: ParseStream<'_>) -> Result<Piece> {
    let keyword = content.parse::<Token![if]>()?;
    let condition = Expr::parse_without_eager_brace(content)?;
    colon(content)?;
    let text = Text::of(dialect, content.parse()?)?;
    let there = Alternative { pattern: None, text: Some(text), arguments: arguments(content)? };
    let not_there = Alternative { pattern: None, text: None, arguments: Vec::new() };
    Ok(Piece::Choice { head: quote!(#keyword #condition), alternatives: vec![not_there, there] })
}

/// `match value: pattern => "text", pattern => { "text", arguments }`
fn choice(dialect: Dialect, content: ParseStream<'_>) -> Result<Piece> {
    let keyword = content.parse::<Token![match]>()?;
    let value = Expr::parse_without_eager_brace(content)?;
    colon(content)?;
    let mut alternatives = Vec::new();
    while !content.is_empty() {
        alternatives.push(alternative(dialect, content)?);
    }
    Ok(Piece::Choice { head: quote!(#keyword #value), alternatives })
}

fn alternative(dialect: Dialect, content: ParseStream<'_>) -> Result<Alternative> {
    let pattern = Pat::parse_multi_with_leading_vert(content)?;
    let arrow = content.parse::<Token![=>]>()?;
    let (text, arguments) = if content.peek(token::Brace) {
        let inner;
        braced!(inner in content);
        (inner.parse()?, self::arguments(&inner)?)
    } else {
        (content.parse()?, Vec::new())
    };
    if !content.is_empty() {
        content.parse::<Token![,]>()?;
    }
    Ok(Alternative { pattern: Some(quote!(#pattern #arrow)), text: Some(Text::of(dialect, text)?), arguments })
}

fn colon(content: ParseStream<'_>) -> Result<()> {
    content.parse::<Token![:]>().map(drop).map_err(|error| {
        Error::new(error.span(), "expected `:` and then the text, as in `{if only_new: \"and seen = 0\"}`")
    })
}

/// What follows the text, after a comma.
fn arguments(input: ParseStream<'_>) -> Result<Vec<Expr>> {
    if input.is_empty() {
        return Ok(Vec::new());
    }
    input.parse::<Token![,]>().map_err(|error| Error::new(error.span(), "expected `,` and a value for each `?`"))?;
    Ok(Punctuated::<Expr, Token![,]>::parse_terminated(input)?.into_iter().collect())
}
