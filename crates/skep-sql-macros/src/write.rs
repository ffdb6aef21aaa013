//! The expression that `sql!` becomes.
//!
//! Start reading at [`expression`].

mod names;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Mutex;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use skep_sql_lock::Dialect;
use skep_units::lock;
use syn::spanned::Spanned as _;
use syn::{Error, Expr, LitStr, PathArguments, Result, Type, TypePath};

use crate::check::{Checked, Column};
use crate::columns::Columns;
use crate::home::Home;
use crate::infer::{self, Kind};
use crate::input::{Alternative, Input, Piece};
use crate::page::Page;
use crate::parameter::{array, kind, parameters};
use crate::postgres;
use crate::statement::Whole;
pub(crate) use names::marker;
use names::{identifier, identifiers};

pub(crate) fn expression(input: &Input, whole: &Whole) -> Result<TokenStream> {
    let span = input.literal().map_or_else(Span::call_site, LitStr::span);
    let home = whole.home.path(Span::call_site());
    let columns = joined(&whole.statements);
    let rows = rows(input, &columns, whole, span)?;
    let (tracked, warnings) = (tracked(&whole.files, whole.dialect), warnings(whole, span));
    let note = note(whole, span)?;
    let statements = statements(whole, span)?;
    // Not around the call: what an argument borrows would end with the block.
    let before = |statements: TokenStream| quote!({ #tracked #warnings #note #statements });
    let is_simple = input.pieces.iter().all(|piece| matches!(piece, Piece::Always(_)));
    if is_simple {
        let statement = before(quote!(&#statements));
        let parameters = Arguments::new(input, whole).always();
        return Ok(quote!(#home::Query::from_checked(#statement, #rows, [#(#parameters),*])));
    }
    let statements = before(quote!(&[#statements]));
    let parts = Arguments::new(input, whole).parts();
    let Some(page) = input.page() else {
        return Ok(quote!(#home::Query::from_parts(#statements, #rows, [#(#parts),*])));
    };
    page.check(&whole.statements, &columns)?;
    paged(input, page, &quote!(#statements, #rows, [#(#parts),*]), columns.len() == 1)
}

/// One page of the rows: `parts` are the arguments of `Query::from_parts`. With `is_single`, rows have one column.
fn paged(input: &Input, page: &Page, parts: &TokenStream, is_single: bool) -> Result<TokenStream> {
    let Page { size, at, keys, .. } = page;
    let home = input.home.path(size.span());
    let size = quote_spanned!(size.span()=> { const SIZE: ::core::primitive::u32 = #home::page_size(#size); SIZE });
    let home = input.home.path(at.span());
    if keys.is_empty() {
        return Ok(quote_spanned!(at.span()=> #home::PageQuery::by_number(#parts, #size, #at)));
    }
    if matches!(input.rows, Some(Type::Tuple(_))) || input.rows.is_some() && is_single {
        let help = "a keyset needs rows with names, of which a cursor is made: leave out the type, or give a struct with `derive(Row)` for several columns";
        return Err(Error::new_spanned(&input.rows, help));
    }
    // Where the cursor has another type than the columns, the compiler points to the cursor.
    let fields = keys.iter().filter_map(|key| identifier(key, at.span()));
    let fields: Vec<_> =
        fields.map(|field| quote_spanned!(at.span()=> ::core::clone::Clone::clone(&row.#field))).collect();
    let key = if let [field] = fields.as_slice() { quote!(#field) } else { quote!((#(#fields),*)) };
    // The last piece, so all others are below its weight.
    let others =
        input.pieces.iter().map(|piece| if matches!(piece, Piece::Page(_)) { 1 } else { piece.alternatives() });
    let weight: usize = others.product();
    Ok(quote_spanned!(at.span()=> #home::PageQuery::by_key(#parts, #weight, #size, #at, |row| #key)))
}

/// Has Cargo compile again when one of the files changes. Once for each crate: a compiler expands the macros of one.
fn tracked(files: &[String], dialect: Dialect) -> Option<TokenStream> {
    static TRACKED: Mutex<BTreeSet<Vec<String>>> = Mutex::new(BTreeSet::new());
    let is_new = lock(&TRACKED).insert(files.to_vec());
    let list = postgres::LIST;
    let listed = (dialect == Dialect::Postgres).then(|| {
        quote!(
            const _: ::core::option::Option<&::core::primitive::str> = ::core::option_env!(#list);
        )
    });
    is_new.then(|| {
        quote! {
            #(const _: &[::core::primitive::u8] =
                ::core::include_bytes!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), #files));)*
            #listed
        }
    })
}

/// For `skep sql check`, where nothing is known of the statement yet: what compiles if the type of its rows is known.
pub(crate) fn not_checked_yet(input: &Input, gives_rows: bool) -> TokenStream {
    let rows = match &input.rows {
        Some(rows) => quote!(#rows),
        None if gives_rows => quote!(_),
        None => quote!(()),
    };
    let (tracked, home) = (tracked(&[], Dialect::Postgres), input.home.path(Span::call_site()));
    match input.page() {
        None => quote!({ #tracked #home::not_checked_yet::<#rows>() }),
        Some(Page { at, keys, .. }) if keys.is_empty() => {
            quote!({ #tracked #home::PageQuery::<#rows, #home::PageNumber>::not_checked_yet(#at) })
        }
        Some(Page { at, .. }) => {
            quote!({ #tracked #home::PageQuery::<#rows, #home::Cursor<_>>::not_checked_yet(#at) })
        }
    }
}

/// Its name in `skep-sql`.
fn dialect(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "Sqlite",
        Dialect::Postgres => "Postgres",
    }
}

/// Puts the `sql!` into the list of all, with the tables of its statements.
fn note(whole: &Whole, span: Span) -> Result<TokenStream> {
    let tables = |of: fn(&Checked) -> &BTreeSet<(String, String)>| -> BTreeSet<&str> {
        whole.statements.iter().flat_map(of).map(|(table, _)| table.as_str()).collect()
    };
    let (reads, writes) = (tables(|one| &one.reads), tables(|one| &one.writes));
    let (dialect, reads, writes) = (dialect(whole.dialect), Vec::from_iter(reads), Vec::from_iter(writes));
    tokens(&format!("{}::__note_checked! {{ {dialect} &{reads:?}, &{writes:?} }}", whole.home.text()), span)
}

/// Literals of `Checked`, with commas between. Literals, because the compiler need not evaluate them, as it must the
/// value of a `static`; and written as a text, because the compiler makes tokens of it many times faster than `quote!`
/// without optimisation.
fn statements(whole: &Whole, span: Span) -> Result<TokenStream> {
    let mut text = String::new();
    let (home, dialect) = (whole.home.text(), dialect(whole.dialect));
    for Checked { sql, reads, writes, reads_only, .. } in &whole.statements {
        let (reads, writes) = (Vec::from_iter(reads), Vec::from_iter(writes));
        _ = write!(
            text,
            "{home}::Checked {{ text: {sql:?}, reads: &{reads:?}, writes: &{writes:?}, reads_only: {reads_only}, \
             dialect: {home}::Dialect::{dialect} }},"
        );
    }
    tokens(text.trim_end_matches(','), span)
}

fn tokens(text: &str, span: Span) -> Result<TokenStream> {
    text.parse().map(|tokens: proc_macro::TokenStream| tokens.into()).map_err(|error| Error::new(span, error))
}

/// The parameters, in the order of the text.
struct Arguments<'a> {
    input: &'a Input,
    whole: &'a Whole,
    given: std::slice::Iter<'a, Expr>,
}

impl<'a> Arguments<'a> {
    fn new(input: &'a Input, whole: &'a Whole) -> Self {
        Self { input, whole, given: input.arguments.iter() }
    }

    fn always(mut self) -> Vec<TokenStream> {
        let mut all = Vec::new();
        for (nth, piece) in self.input.pieces.iter().enumerate() {
            if let Piece::Always(text) = piece {
                all.extend(parameters(self.whole, text, (nth, 0), &mut self.given));
            }
        }
        all
    }

    /// For each piece what it adds to the number of the statement, and its parameters.
    fn parts(mut self) -> Vec<TokenStream> {
        let mut weight = 1;
        let mut parts = Vec::new();
        for (nth, piece) in self.input.pieces.iter().enumerate() {
            let part = match piece {
                Piece::Always(text) => {
                    let values = parameters(self.whole, text, (nth, 0), &mut self.given);
                    quote!((0, ::std::vec![#(#values),*]))
                }
                Piece::Choice { head, alternatives } => self.choice(nth, head, alternatives, weight),
                // What they take, `PageQuery` adds.
                Piece::Page(_) => continue,
            };
            parts.push(part);
            weight *= piece.alternatives();
        }
        parts
    }

    fn choice(&self, nth: usize, head: &TokenStream, alternatives: &[Alternative], weight: usize) -> TokenStream {
        let value = |(chosen, one): (usize, &Alternative)| {
            let text = one.text.as_ref();
            let values = text.map(|text| parameters(self.whole, text, (nth, chosen), &mut one.arguments.iter()));
            let (values, offset) = (values.unwrap_or_default(), chosen * weight);
            quote!((#offset, ::std::vec![#(#values),*]))
        };
        let mut values = alternatives.iter().enumerate().map(value);
        if let [Alternative { pattern: None, .. }, _] = alternatives {
            let (not_there, there) = (values.next(), values.next());
            return quote!(#head { #there } else { #not_there });
        }
        let patterns = alternatives.iter().map(|one| &one.pattern);
        quote!(#head { #(#patterns #values,)* })
    }
}

/// The columns of all the statements, which have the same names.
fn joined(statements: &[Checked]) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for statement in statements {
        for (nth, column) in statement.columns.iter().enumerate() {
            match columns.get_mut(nth) {
                // Two rows of one statement are compared, not those of several.
                Some(known) => {
                    let unique = known.ty.unique && column.ty.unique;
                    known.ty = infer::Type { unique, ..known.ty.join(column.ty) };
                }
                None => columns.push(Column { name: column.name.clone(), ty: column.ty, asserted: column.asserted }),
            }
        }
    }
    columns
}

/// A `PhantomData` of what a row becomes, and what makes the compiler compare it with the columns.
fn rows(input: &Input, columns: &[Column], whole: &Whole, span: Span) -> Result<TokenStream> {
    match (&input.rows, columns) {
        (None, []) => Ok(quote!(::core::marker::PhantomData::<()>)),
        (Some(rows), []) => Err(Error::new_spanned(
            rows,
            "the statement gives no rows: leave out the type, or add `returning` and columns",
        )),
        (None, columns) => unnamed(whole.home, columns, span),
        (Some(Type::Tuple(tuple)), columns) => positional(tuple, columns, whole, span),
        (Some(rows), [column]) => {
            let value = compared(whole.home, "rows_of_one", &quote!(#rows), column, span);
            let markers = markers(columns, span);
            Ok(quote_spanned!(span=> { #markers #value }))
        }
        (Some(Type::Path(rows)), columns) => named(input, rows, columns, span),
        (Some(rows), _) => {
            Err(Error::new_spanned(rows, "expected a struct with `derive(Row)`, a tuple, or the type of one column"))
        }
    }
}

/// A struct of its own, with the columns' names and types.
fn unnamed(home: Home, columns: &[Column], span: Span) -> Result<TokenStream> {
    let names = identifiers(columns, span)?;
    let types = columns.iter().map(|column| owned(home, column));
    let home = home.path(span);
    let quoted = columns.iter().map(|column| &column.name);
    Ok(quote_spanned! {span=> {
        #[derive(::core::clone::Clone, ::core::fmt::Debug, ::core::cmp::PartialEq, #home::Row)]
        #[allow(dead_code, reason = "a statement may have columns that are not read")]
        struct Row { #(#[row(column = #quoted)] #names: #types),* }
        ::core::marker::PhantomData::<Row>
    }})
}

fn positional(tuple: &syn::TypeTuple, columns: &[Column], whole: &Whole, span: Span) -> Result<TokenStream> {
    if whole.statements.iter().any(|statement| statement.has_star) {
        let help = "`*` is in no fixed order: a migration that adds a column would shift the rest. Name the columns, or use a struct";
        return Err(Error::new(span, help));
    }
    if tuple.elems.len() != columns.len() {
        let (parts, columns) = (tuple.elems.len(), columns.len());
        let columns = if columns == 1 { "1 column".to_owned() } else { format!("{columns} columns") };
        return Err(Error::new_spanned(
            tuple,
            format!("this tuple has {parts} parts, and the statement gives {columns}"),
        ));
    }
    let markers = markers(columns, span);
    let compared = |(ty, column)| compared(whole.home, "column", &quote!(#ty), column, span);
    let values = tuple.elems.iter().zip(columns).map(compared);
    Ok(quote_spanned!(span=> { #markers let _ = || { #(#values;)* }; ::core::marker::PhantomData::<#tuple> }))
}

/// A literal of the struct, in code that never runs: what is missing, extra or of another type is the compiler's own
/// error.
///
/// Where the statement has the `{columns of ...}` of the struct, its fields may have other names than their columns.
fn named(input: &Input, rows: &TypePath, columns: &[Column], span: Span) -> Result<TokenStream> {
    let (home, known) = (input.home, input.structs.find(&rows.path));
    let names = match known {
        Some(fields) => fields_of(fields, rows, columns, span)?,
        None => identifiers(columns, span)?,
    };
    let mut path = rows.path.clone();
    for segment in &mut path.segments {
        if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
            arguments.colon2_token = Some(syn::Token![::](segment.ident.span()));
        }
    }
    let values = columns.iter().map(|column| compared(home, "column", &quote!(_), column, span));
    let (markers, home) = (markers(columns, span), home.path(Span::call_site()));
    let check = match known {
        Some(_) => quote!(::core::marker::PhantomData::<#rows>),
        None => quote!(#home::rows_by_name::<#rows>()),
    };
    Ok(quote! {{
        #markers
        let _ = || #path { #(#names: #values),* };
        #check
    }})
}

/// The fields of these columns.
fn fields_of(fields: &Columns, rows: &TypePath, columns: &[Column], span: Span) -> Result<Vec<Ident>> {
    let field = |column: &Column| {
        let Some((field, _)) = fields.iter().find(|(_, known)| *known == column.name) else {
            let known: Vec<_> = fields.iter().map(|(_, column)| column.as_str()).collect();
            let (rows, known, name) = (quote!(#rows).to_string().replace(' ', ""), known.join("`, `"), &column.name);
            let message = format!("the statement gives `{name}`, and the columns of `{rows}` are `{known}`");
            return Err(Error::new(span, message));
        };
        let mut field = field.clone();
        field.set_span(span);
        Ok(field)
    };
    columns.iter().map(field).collect()
}

/// A call of `function` of `skep-sql` that compiles if the column can be read into the type `rows`.
fn compared(home: Home, function: &str, rows: &TokenStream, column: &Column, span: Span) -> TokenStream {
    let of = kind(home, column.ty.kind);
    let of = if column.ty.is_list { array(home, &of, column.asserted) } else { of };
    let (home, name) = (home.path(span), marker(&column.name, span));
    let of = if column.asserted || !column.ty.nullable {
        quote_spanned!(span=> #home::kind::NotNull<#of>)
    } else {
        quote_spanned!(span=> #home::kind::Nullable<#of>)
    };
    let function = Ident::new(function, span);
    quote_spanned!(span=> #home::#function::<#rows, #of, #name>())
}

/// Types of the columns' names, which the compiler shows in its messages.
fn markers(columns: &[Column], span: Span) -> TokenStream {
    let names: BTreeSet<Ident> = columns.iter().map(|column| marker(&column.name, span)).collect();
    quote_spanned! {span=>
        #(#[allow(non_camel_case_types, reason = "it is the name of a column")] enum #names {})*
    }
}

/// The type of a field for the column.
fn owned(home: Home, column: &Column) -> TokenStream {
    let ty = match column.ty.kind {
        Kind::Integer if column.ty.boolean => quote!(::core::primitive::bool),
        Kind::Integer => quote!(::core::primitive::i64),
        Kind::Real => quote!(::core::primitive::f64),
        Kind::Decimal => quote!(::std::string::String),
        kind if kind.is_text() => quote!(::std::string::String),
        Kind::Blob => quote!(::std::vec::Vec<::core::primitive::u8>),
        // Holds NULL, too.
        _ => {
            let home = home.path(Span::call_site());
            return quote!(#home::Value<'static>);
        }
    };
    let ty = match column {
        Column { ty: infer::Type { is_list: false, .. }, .. } => ty,
        Column { asserted: true, .. } => quote!(::std::vec::Vec<#ty>),
        _ => quote!(::std::vec::Vec<::core::option::Option<#ty>>),
    };
    if column.asserted || !column.ty.nullable { ty } else { quote!(::core::option::Option<#ty>) }
}

/// One warning for each table that is not strict, in each compilation.
fn warnings(whole: &Whole, span: Span) -> TokenStream {
    static WARNED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut warned = lock(&WARNED);
    let tables: BTreeSet<&String> = whole.statements.iter().flat_map(|statement| &statement.loose).collect();
    let new: Vec<&String> = tables.into_iter().filter(|table| warned.insert((*table).clone())).collect();
    let notes = new.iter().map(|table| {
        let note = format!(
            "the table `{table}` is not `strict`, so SQLite may store other types than its columns have; make it \
             `create table {table} (...) strict`"
        );
        quote_spanned! {span=>
            const _: () = {
                #[deprecated(note = #note)]
                #[allow(non_upper_case_globals)]
                const table_that_is_not_strict: () = ();
                table_that_is_not_strict
            };
        }
    });
    quote!(#(#notes)*)
}
