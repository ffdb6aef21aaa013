//! `with_defaults!`, for structs of public options.

/// A struct with the default of each field beside it.
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
