//! A value for each database.

/// A `match` on which database it is. The second arm is there with the feature `postgres` only, as the variant is that
/// it names.
macro_rules! each_database {
    ($database:expr, $sqlite:pat => $in_sqlite:expr, $postgres:pat => $in_postgres:expr $(,)?) => {
        match $database {
            $sqlite => $in_sqlite,
            #[cfg(feature = "postgres")]
            $postgres => $in_postgres,
        }
    };
}

pub(crate) use each_database;
