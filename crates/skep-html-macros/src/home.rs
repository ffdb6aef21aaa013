//! The crate that is named by what a macro writes: `skep-html`, or `skep`, which re-exports it as `skep::html`.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

/// Which of the two an application depends on, as its author shows by the macro that is called.
///
/// Each macro is there twice, and each of the two crates re-exports the one that names that crate, under the usual
/// name. A wrapper of `macro_rules!` that passes `$crate` on would be in each message of the compiler, in front of the
/// author's own code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// `skep_html::html!`
    Html,
    /// `skep::html!`, which knows the forms of services, too, and has the server told how long a page took.
    Skep,
}

impl Home {
    /// The path of `skep-html`. The compiler points to `span` where something below it does not fit.
    pub(crate) fn path(self, span: Span) -> TokenStream {
        match self {
            Self::Html => quote_spanned!(span=> ::skep_html),
            Self::Skep => quote_spanned!(span=> ::skep::html),
        }
    }

    /// The same as an author writes it.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Html => "skep_html",
            Self::Skep => "skep::html",
        }
    }

    /// The statement that begins to measure how long a piece takes. Nothing where no server asks.
    pub(crate) fn account(self, span: Span) -> TokenStream {
        match self {
            Self::Html => TokenStream::new(),
            Self::Skep => quote_spanned!(span=> let _rendering = ::skep::account::Rendering::begin();),
        }
    }
}
