//! Methods of builders that note one setting each.

/// Defines them: `pub fn timeout(timeout: Duration) => options.timeout = timeout;`
macro_rules! setters {
    ($($(#[$meta:meta])* pub fn $name:ident($($value:ident: $type:ty),*) => $($field:ident).+ = $to:expr;)*) => {
        $(
            $(#[$meta])*
            pub fn $name(mut self, $($value: $type),*) -> Self {
                self.$($field).+ = $to;
                self
            }
        )*
    };
}

pub(crate) use setters;
