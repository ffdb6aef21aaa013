//! The compile-time half of skep. Documented where it is re-exported: in `skep`.

mod assets;

/// A folder inside the executable; documented as `skep::assets`.
#[proc_macro]
pub fn assets(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    assets::expand(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
