//! `derive(Row)`: each field from the column of its name.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Error, Field, Fields, LitStr, Result};

pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let fields = named_fields(&input)?;
    let name = &input.ident;
    let (generics, arguments, conditions) = input.generics.split_for_impl();
    let row = name.unraw().to_string();
    let count = fields.len();
    let idents: Vec<_> = fields.iter().filter_map(|field| field.ident.as_ref()).collect();
    let names = idents.iter().map(|ident| ident.unraw().to_string());
    let columns = fields.iter().copied().map(column).collect::<Result<Vec<_>>>()?;
    let places = 0..count;
    Ok(quote! {
        #[automatically_derived]
        impl #generics ::skep::sql::Row for #name #arguments #conditions {
            type Plan = [::core::primitive::usize; #count];

            fn plan(columns: &::skep::sql::Columns<'_>) -> ::skep::sql::Result<Self::Plan> {
                columns.find(#row, [#((#names, #columns)),*])
            }

            #[inline]
            fn read(cells: &::skep::sql::Cells<'_>, plan: &Self::Plan) -> ::skep::sql::Result<Self> {
                ::core::result::Result::Ok(Self { #(#idents: cells.get(plan[#places])?),* })
            }
        }
    })
}

fn named_fields(input: &DeriveInput) -> Result<Vec<&Field>> {
    if let Some(lifetime) = input.generics.lifetimes().next() {
        let text =
            "a row owns what it holds: it is made while SQLite still owns the text. Use `String` instead of `&str`";
        return Err(Error::new_spanned(lifetime, text));
    }
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) if !fields.named.is_empty() => Ok(fields.named.iter().collect()),
            _ => Err(Error::new_spanned(
                &input.ident,
                "`derive(Row)` needs a struct with named fields, each read from the column of its name; \
                 for columns by position, read a tuple",
            )),
        },
        _ => Err(Error::new_spanned(
            &input.ident,
            "`derive(Row)` is for structs; for a value in one column, implement `skep::sql::FromValue`",
        )),
    }
}

/// The name of the field's column: what `#[row(column = "...")]` says, else the field's own.
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

    fn error(input: TokenStream) -> String {
        expand(input).unwrap_err().to_string()
    }

    #[test]
    fn fields_are_read_from_the_columns_of_their_names() {
        let code = expand(quote! { struct Post { r#type: i64, #[row(column = "body_html")] body: String } }).unwrap();
        let code = code.to_string();
        assert!(code.contains(r#"("Post" , [("type" , "type") , ("body" , "body_html")])"#), "{code}");
    }

    #[test]
    fn what_cannot_be_a_row_says_what_can() {
        assert!(error(quote! { struct Post(i64); }).contains("read a tuple"));
        assert!(error(quote! { enum Post {} }).contains("implement `skep::sql::FromValue`"));
        assert!(error(quote! { struct Post<'a> { title: &'a str } }).contains("Use `String`"));
        assert!(error(quote! { struct Post { #[row(name = "x")] title: String } }).contains("expected `column"));
    }
}
