//! The parameters of a statement as expressions, each compared with the place where it stands.
//!
//! Start reading at [`parameters`].

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use skep_sql_lock::Dialect;
use syn::Expr;
use syn::spanned::Spanned as _;

use crate::columns::Field;
use crate::home::Home;
use crate::infer::Kind;
use crate::statement::{ParameterPosition, Whole};
use crate::text::{Parameter, Text};
use crate::write::marker;

pub(crate) fn parameters<'a>(
    whole: &Whole,
    text: &Text,
    (piece, chosen): (usize, usize),
    given: &mut impl Iterator<Item = &'a Expr>,
) -> Vec<TokenStream> {
    let kind = |which: usize| {
        let place: ParameterPosition = (piece, chosen, which);
        kind(whole.home, whole.kinds.get(&place).copied().unwrap_or(Kind::Any))
    };
    let (mut all, mut row) = (Vec::new(), None);
    for (which, parameter) in text.parameters.iter().enumerate() {
        let scope = whole.scopes.get(&(piece, chosen, which));
        let kind = kind(which);
        let value = match parameter {
            Parameter::List(list) => {
                let function = match whole.dialect {
                    Dialect::Sqlite => quote!(list),
                    Dialect::Postgres => quote!(array),
                };
                let home = whole.home.path(list.span());
                quote_spanned!(list.span()=> #home::#function::<#kind, _>(#list))
            }
            one => match row.take().or_else(|| given.next()) {
                Some(value) => {
                    let value = match one {
                        Parameter::Field(field) => {
                            row = (!field.is_last).then_some(value);
                            field_of(whole.home, value, field)
                        }
                        _ => quote!(#value),
                    };
                    let value = scoped(&value, scope);
                    let is_array = whole.arrays.contains(&(piece, chosen, which));
                    let kind = if is_array { array(whole.home, &kind, false) } else { kind };
                    let home = whole.home.path(value.span());
                    let function = match whole.dialect {
                        Dialect::Sqlite => quote!(parameter),
                        Dialect::Postgres => quote!(sent),
                    };
                    quote_spanned!(value.span()=> #home::#function::<#kind, _>(#value))
                }
                None => continue,
            },
        };
        all.push(value);
    }
    all
}

/// A field of a struct that is an argument, and is read once for each of them.
fn field_of(home: Home, row: &Expr, Field { of, name, .. }: &Field) -> TokenStream {
    let row = if let Expr::Reference(reference) = row { &*reference.expr } else { row };
    let (home, span) = (home.path(row.span()), row.span());
    if !is_place(row) {
        let help = "expected a variable or a field of one, such as `&self.post`: its fields are read one by one";
        return quote_spanned!(span=> ::core::compile_error!(#help));
    }
    let mut name = name.clone();
    name.set_span(span);
    quote_spanned!(span=> &#home::fields_of::<#of>(&#row).#name)
}

fn is_place(expression: &Expr) -> bool {
    match expression {
        Expr::Path(_) => true,
        Expr::Field(field) => is_place(&field.base),
        Expr::Paren(inner) => is_place(&inner.expr),
        Expr::Unary(unary) => matches!(unary.op, syn::UnOp::Deref(_)) && is_place(&unary.expr),
        _ => false,
    }
}

/// The value, which must be a `Scope` of skep for these columns.
fn scoped(value: &TokenStream, columns: Option<&BTreeSet<(String, String)>>) -> TokenStream {
    let (mut scoped, span) = (quote!(#value), value.span());
    for (table, column) in columns.into_iter().flatten() {
        let name = marker(column, span);
        // A `match`, since what the value borrows would end with a block.
        scoped = quote_spanned! {span=> match #scoped {
            scope => {
                #[allow(non_camel_case_types, reason = "it is the name of a column")]
                enum #name {}
                impl ::skep::guard::ScopeColumn for #name {
                    const TABLE: &'static ::core::primitive::str = #table;
                    const COLUMN: &'static ::core::primitive::str = #column;
                }
                ::skep::guard::scope::<#name, _>(scope)
            }
        }};
    }
    scoped
}

pub(crate) fn kind(home: Home, kind: Kind) -> TokenStream {
    let home = home.path(Span::call_site());
    if let Kind::Fixed { digits, places } = kind {
        return quote!(#home::kind::Fixed<#digits, #places>);
    }
    let name = format_ident!("{}", kind.name());
    quote!(#home::kind::#name)
}

/// An array of it.
pub(crate) fn array(home: Home, kind: &TokenStream, is_asserted: bool) -> TokenStream {
    let element = if is_asserted { quote!(NotNull) } else { quote!(Nullable) };
    let home = home.path(Span::call_site());
    quote!(#home::kind::Array<#home::kind::#element<#kind>>)
}
