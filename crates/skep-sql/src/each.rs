//! SQLite or PostgreSQL, as an enum.

/// Enums of a type of SQLite and one of PostgreSQL.
macro_rules! either {
    ($($(#[$attribute:meta])* $name:ident $(<$lifetime:lifetime>)?: $sqlite:ty, $postgres:ty;)*) => {$(
        $(#[$attribute])*
        pub(crate) enum $name $(<$lifetime>)? {
            Sqlite($sqlite),
            Postgres($postgres),
        }

        impl $(<$lifetime>)? From<$sqlite> for $name $(<$lifetime>)? {
            fn from(sqlite: $sqlite) -> Self {
                Self::Sqlite(sqlite)
            }
        }

        impl $(<$lifetime>)? From<$postgres> for $name $(<$lifetime>)? {
            fn from(postgres: $postgres) -> Self {
                Self::Postgres(postgres)
            }
        }
    )*};
}

/// Does the same with the one that it is.
macro_rules! each {
    ($either:expr, $it:ident => $same:expr) => {
        match $either {
            Self::Sqlite($it) => $same,
            Self::Postgres($it) => $same,
        }
    };
}

pub(crate) use {each, either};
