//! The crate that is named by what a macro writes: `skep-sql`, or `skep`, which re-exports it as `skep::sql`.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

/// Which of the two an application depends on, as its author shows by the macro that is called.
///
/// Each macro is there twice, and each of the two crates re-exports the one that names that crate, under the usual
/// name. A derive macro has no `$crate`, so it must be told; and a wrapper of `macro_rules!` that passes `$crate` on
/// would be in each message of the compiler, in front of the author's own code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// `skep_sql::sql!`
    Sql,
    /// `skep::sql!`
    Skep,
}

impl Home {
    /// The path of `skep-sql`. The compiler points to `span` where something below it does not fit.
    pub(crate) fn path(self, span: Span) -> TokenStream {
        match self {
            Self::Sql => quote_spanned!(span=> ::skep_sql),
            Self::Skep => quote_spanned!(span=> ::skep::sql),
        }
    }

    /// The path of `sql!`, for a macro that calls it again.
    pub(crate) fn sql(self) -> TokenStream {
        match self {
            Self::Sql => quote!(::skep_sql::sql),
            Self::Skep => quote!(::skep::sql),
        }
    }

    /// The same as a text.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Sql => "::skep_sql",
            Self::Skep => "::skep::sql",
        }
    }
}
