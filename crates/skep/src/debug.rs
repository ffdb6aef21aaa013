//! How types that have secrets or much in them appear in `{:?}`.

/// `Debug` for a type that shows its name, and perhaps one field that says which it is.
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
