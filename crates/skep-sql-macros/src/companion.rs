//! The columns of a struct with `derive(Row)`, for statements: `select {columns of Post} from post`.
//!
//! A macro sees no other type's fields. So the derive makes a macro of the type's name, which calls `sql!` again, with
//! the columns.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DeriveInput, Ident, LitStr, Visibility};

/// The macro. Its arguments are the macro to call, the type as the statement names it, and what else that gets.
pub(crate) fn of(input: &DeriveInput, fields: &[&Ident], columns: &[String]) -> TokenStream {
    let name = &input.ident;
    let companion = format_ident!("__columns_of_{}", name);
    let columns = columns.iter().map(|column| LitStr::new(column, name.span()));
    // It is for this crate: nothing else may name a macro of a derive.
    let visibility = match &input.vis {
        Visibility::Public(_) => quote!(pub(crate)),
        other => quote!(#other),
    };
    quote! {
        #[doc(hidden)]
        #[allow(unused_macros)]
        macro_rules! #companion {
            ([$($sql:tt)*] [$($name:tt)*] $($rest:tt)*) => {
                $($sql)*! { columns [$($name)*] [#(#fields #columns)*]; $($rest)* }
            };
        }
        #[doc(hidden)]
        #[allow(unused_imports, unreachable_pub)]
        #visibility use #companion as #name;
    }
}
