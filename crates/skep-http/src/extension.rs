//! `extension!`, for the traits of [`ext`](crate::ext).

/// Defines a trait and implements it for one type.
macro_rules! extension {
    (
        $(#[$about:meta])*
        pub trait $trait:ident for $type:ty {
            $($(#[$meta:meta])* fn $name:ident $(<$lifetime:lifetime>)? ($($args:tt)*) $(-> $result:ty)? $body:block)*
        }
    ) => {
        $(#[$about])*
        pub trait $trait: Sized {
            $($(#[$meta])* fn $name $(<$lifetime>)? ($($args)*) $(-> $result)?;)*
        }

        impl $trait for $type {
            $(#[inline] fn $name $(<$lifetime>)? ($($args)*) $(-> $result)? $body)*
        }
    };
}
