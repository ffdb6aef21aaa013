//! The compile-time half of skep. Documented where it is re-exported: in `skep`.

use proc_macro::TokenStream;

mod html;

#[allow(missing_docs, reason = "documented where it is re-exported")]
#[proc_macro]
pub fn html(template: TokenStream) -> TokenStream {
    html::expand(template.into()).into()
}
