//! What types of values with a text have in common: they are parameters, and can be shown.

/// For types that hold their text, which `as_str` lends and `FromStr` reads.
macro_rules! text_types {
    ($([$($generics:tt)*] $type:ty, $expected:expr;)*) => {$(
        impl<$($generics)*> $crate::param::Param for $type {
            fn expected() -> std::borrow::Cow<'static, str> {
                $expected.into()
            }
            fn parse(text: &str) -> Option<Self> {
                text.parse().ok()
            }
            fn write(&self, out: &mut String) {
                out.push_str(self.as_str());
            }
        }

        impl<$($generics)*> AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl<$($generics)*> std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        $crate::param::shown::render!([$($generics)*] $type, |value| value.as_str());
    )*};
}

/// For types with a `Display`, which this reads back.
macro_rules! display_types {
    ($([$($generics:tt)*] $type:ty, |$text:ident| $parse:expr, $expected:expr $(=> $expectation:expr)?;)*) => {$(
        $crate::param::shown::display_params! { [$($generics)*] $type, |$text| $parse, $expected $(=> $expectation)?; }
        $crate::param::shown::render!([$($generics)*] $type, |value| format_args!("{value}"));
    )*};
}

/// The same for types of other crates, which `html` shows.
macro_rules! display_params {
    ($([$($generics:tt)*] $type:ty, |$text:ident| $parse:expr, $expected:expr $(=> $expectation:expr)?;)*) => {$(
        impl<$($generics)*> $crate::param::Param for $type {
            fn expected() -> std::borrow::Cow<'static, str> {
                $expected.into()
            }
            $(fn expectation() -> skep_http::validation::Expected {
                $expectation
            })?
            fn parse($text: &str) -> Option<Self> {
                $parse.ok()
            }
            fn write(&self, out: &mut String) {
                use std::fmt::Write as _;
                write!(out, "{self}").expect("a String takes all");
            }
        }
    )*};
}

/// As text on a page and in an attribute.
macro_rules! render {
    ([$($generics:tt)*] $type:ty, |$value:ident| $shown:expr) => {
        impl<$($generics)*> $crate::html::Render for $type {
            type Content = $crate::html::Text;

            fn render(&self, out: &mut $crate::html::Buffer) {
                let $value = self;
                $crate::html::Render::render(&$shown, out);
            }
        }

        impl<$($generics)*> $crate::html::PlainText for $type {
            fn write_plain(&self, out: &mut $crate::html::Buffer) {
                let $value = self;
                $crate::html::PlainText::write_plain(&$shown, out);
            }
        }
    };
}

pub(crate) use {display_params, display_types, render, text_types};
