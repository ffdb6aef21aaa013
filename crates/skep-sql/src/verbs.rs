//! The verbs that every handle of a database has.

/// The verbs that read rows, for a type whose method `run` runs a statement. `$wait` is `await`, if that is a future.
macro_rules! row_verbs {
    ([$($asynchronous:tt)?] $this:ident: $type:ty $(, $wait:ident)?) => {
        /// Every row of the answer. All of them are in memory at once: give a statement that may have many a `limit`.
        pub $($asynchronous)? fn all<'q, T: Row>($this: $type, query: impl Into<Query<'q, T>>) -> Result<Vec<T>> {
            $this.run(query.into(), verb::all::<T>()) $(.$wait)?
        }

        /// The first row of the answer, if there is one.
        pub $($asynchronous)? fn first<'q, T: Row>($this: $type, query: impl Into<Query<'q, T>>) -> Result<Option<T>> {
            $this.run(query.into(), verb::first::<T>()) $(.$wait)?
        }

        /// The row of an answer that has one at most; more are an error.
        pub $($asynchronous)? fn one<'q, T: Row>($this: $type, query: impl Into<Query<'q, T>>) -> Result<Option<T>> {
            $this.run(query.into(), verb::one::<T>()) $(.$wait)?
        }

        /// One page of the answer, of a statement that `sql!` was given with `{page 20: number}` or
        /// `{keyset 20: cursor}`. A cursor that is no value of the columns is the client's error, a 400.
        pub $($asynchronous)? fn page<'q, T: Row, At>(
            $this: $type,
            page: $crate::PageQuery<'q, T, At>,
        ) -> Result<$crate::Page<T, At>> {
            let $crate::PageQuery { query, cursor, cut } = page;
            let rows = $this.run(query, verb::all::<T>()) $(.$wait)?;
            Ok(cut(rows.map_err(|error| error.of_page(&cursor))?))
        }
    };
}

/// The same, and the verb that writes.
macro_rules! verbs {
    ([$($asynchronous:tt)?] $this:ident: $type:ty $(, $wait:ident)?) => {
        $crate::verbs::row_verbs!([$($asynchronous)?] $this: $type $(, $wait)?);

        /// Runs a statement that gives no rows.
        pub $($asynchronous)? fn execute<'q>($this: $type, query: impl Into<Query<'q>>) -> Result<Changes> {
            $this.run(query.into(), verb::execute()) $(.$wait)?
        }
    };
}

pub(super) use {row_verbs, verbs};
