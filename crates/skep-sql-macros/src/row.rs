//! `derive(Row)`: reads each field from the column of the same name.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Data, DeriveInput, Error, Field, Fields, Ident, LitStr, Result};

use crate::companion;
use crate::home::Home;

pub(crate) fn expand(home: Home, input: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let fields = named_fields(&input)?;
    let (home, name) = (home.path(Span::call_site()), &input.ident);
    let (generics, arguments, conditions) = input.generics.split_for_impl();
    let (row, count) = (name.unraw().to_string(), fields.len());
    let idents: Vec<&Ident> = fields.iter().filter_map(|field| field.ident.as_ref()).collect();
    let names = idents.iter().map(|ident| ident.unraw().to_string());
    let columns = fields.iter().copied().map(column).collect::<Result<Vec<_>>>()?;
    let companion = companion::of(&input, &idents, &columns);
    let values = fields.iter().enumerate().map(|(position, Field { ident, ty, .. })| {
        // Resolved in the author's code, the compiler underlines the type if it lacks a trait.
        let span = ty.span().resolved_at(Span::call_site());
        quote_spanned!(span=> #ident: cells.get::<#ty>(plan[#position])?)
    });
    let by_name = is_by_name(&fields).then(|| {
        quote! {
            #[automatically_derived]
            impl #generics #home::ByName for #name #arguments #conditions {}
        }
    });
    Ok(quote! {
        #companion
        #by_name
        #[automatically_derived]
        impl #generics #home::Row for #name #arguments #conditions {
            type Plan = [::core::primitive::usize; #count];

            fn plan(columns: &#home::Columns<'_>) -> #home::Result<Self::Plan> {
                columns.find(#row, [#((#names, #columns)),*])
            }

            #[inline]
            fn read(cells: &#home::Cells<'_>, plan: &Self::Plan) -> #home::Result<Self> {
                ::core::result::Result::Ok(Self { #(#values),* })
            }
        }
    })
}

fn named_fields(input: &DeriveInput) -> Result<Vec<&Field>> {
    if let Some(lifetime) = input.generics.lifetimes().next() {
        let help = "a row cannot borrow from the database. Use `String` instead of `&str`";
        return Err(Error::new_spanned(lifetime, help));
    }
    let help = match &input.data {
        Data::Struct(_) => {
            "`derive(Row)` needs a struct with named fields, each read from the column of its name; \
             for columns by position, read a tuple"
        }
        _ => "`derive(Row)` is for structs; for a value in one column, implement `FromValue`",
    };
    match &input.data {
        Data::Struct(data) if matches!(data.fields, Fields::Named(_)) && !data.fields.is_empty() => {
            Ok(data.fields.iter().collect())
        }
        _ => Err(Error::new(input.ident.span(), help)),
    }
}

/// True if each field is read from the column of its own name.
fn is_by_name(fields: &[&Field]) -> bool {
    fields.iter().all(|field| !field.attrs.iter().any(|attribute| attribute.path().is_ident("row")))
}

/// The column of a field: that of `#[row(column = "...")]`, or the name of the field.
fn column(field: &Field) -> Result<String> {
    let mut column = field.ident.as_ref().map(|ident| ident.unraw().to_string()).unwrap_or_default();
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("row")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("column") {
                return Err(meta.error("expected `column = \"name\"`"));
            }
            column = meta.value()?.parse::<LitStr>()?.value();
            Ok(())
        })?;
    }
    Ok(column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_from_columns_of_the_same_name() {
        let code = expand(Home::Sql, quote! { struct Post { r#type: i64, #[row(column = "body_html")] body: String } })
            .unwrap();
        let code = code.to_string();
        assert!(code.contains(r#"("Post" , [("type" , "type") , ("body" , "body_html")])"#), "{code}");
    }
}
