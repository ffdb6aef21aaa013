//! What many types of Skep's crates are written with.

/// `Debug` for a type that shows its name, and perhaps one field that says which it is.
#[doc(hidden)]
#[macro_export]
macro_rules! opaque_debug {
    ($type:ident $(<$lifetime:lifetime>)? $(, $name:ident: $($field:ident).+)?) => {
        impl std::fmt::Debug for $type $(<$lifetime>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($type))
                    $(.field(stringify!($name), &self.$($field).+))?
                    .finish_non_exhaustive()
            }
        }
    };
}

/// `Display` and `Error` for a type that says why something failed.
#[doc(hidden)]
#[macro_export]
macro_rules! error_text {
    ($type:ty, |$error:ident| $text:expr) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $error = self;
                std::fmt::Display::fmt(&$text, f)
            }
        }

        impl std::error::Error for $type {}
    };
}

/// A struct with the default of each field beside it.
#[doc(hidden)]
#[macro_export]
macro_rules! with_defaults {
    ($(#[$about:meta])* $visible:vis struct $name:ident {
        $($(#[$doc:meta])* $field_visible:vis $field:ident: $type:ty = $default:expr,)*
    }) => {
        $(#[$about])*
        $visible struct $name {
            $($(#[$doc])* $field_visible $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }
    };
}
