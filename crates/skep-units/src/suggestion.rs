//! What to do about the commonest mistakes, by a part of what their errors say.

/// What an error says, in part, and what to do about it. The first one that fits is shown.
const SUGGESTIONS: [(&str, &str); 52] = [
    // SQLite.
    (
        "no such table: ",
        "No migration makes this table. Add a file to `migrations/`, such as `0002_post.sql`, and start again; in \
         development, `skep db reset` makes a new database if an old migration was changed.",
    ),
    (
        "no such column: ",
        "A migration has to add the column, or the statement misspells it. `sql!` checks both while compiling.",
    ),
    (
        "has no column named ",
        "A migration has to add the column, or the statement misspells it. `sql!` checks both while compiling.",
    ),
    ("no such function: ", "Declare it with `sql_function!` and a comment in a migration, or mend its name."),
    (
        "UNIQUE constraint failed",
        "There is such a row already. Handle it where the statement runs: `Err(error) if error.is_unique_violation()` \
         becomes `Save::title.refuse(...)` for a form, or `Error::conflict(...)`; `on conflict do update` writes over it.",
    ),
    (
        "FOREIGN KEY constraint failed",
        "The row to which this one refers is not there, or others still refer to the one that is deleted. Look for it first \
         (`.or_404()?`), or say `on delete cascade` in the migration.",
    ),
    (
        "NOT NULL constraint failed",
        "The statement leaves out a column that must have a value: write it, or give the column a `default`.",
    ),
    (
        "CHECK constraint failed",
        "A migration forbids this value (`check`). Let the type of the form's field refuse it, such as `Text<1, 80>`.",
    ),
    (
        "cannot store ",
        "The table is `strict`, and the value has another type than its column: convert it in the handler.",
    ),
    ("datatype mismatch", "The value has another type than its column: convert it in the handler."),
    (
        "\": syntax error",
        "The database does not understand the statement at the place it names. In `sql!`, the compiler would have said so.",
    ),
    (
        "expected one row at most, found more",
        "`one` reads a single row: use `all`, or add `limit 1` or a condition on a unique column.",
    ),
    ("parameters, ", "A statement needs one value for each `?`, in their order."),
    ("must not begin or end a transaction", "Use `cx.transaction()`, which commits if the handler returns `Ok`."),
    (
        "database is locked",
        "Another process writes for long. End it (a console, an old server), or make its transactions shorter.",
    ),
    (
        "readonly database",
        "The user of the server may not write the database or its folder: `chown` both, or mend the setting `data`.",
    ),
    ("database or disk is full", "There is no room left where the setting `data` leads."),
    (
        "file is not a database",
        "The file in the setting `data` is no SQLite database: move it away, or name another folder.",
    ),
    // PostgreSQL.
    (
        "password authentication failed",
        "The setting `database` has a wrong user or password: `postgres://USER:PASSWORD@HOST/NAME`.",
    ),
    (
        "permission denied for",
        "The user of the setting `database` may not do this: `grant` it, or make that user the owner of the tables.",
    ),
    (
        "duplicate key value",
        "There is such a row already: handle `error.is_unique_violation()`, or write `on conflict do update`.",
    ),
    (
        "violates foreign key constraint",
        "The row to which this one refers is not there, or others still refer to it: look for it first (`.or_404()?`).",
    ),
    (
        "violates not-null constraint",
        "The statement leaves out a column that must have a value: write it, or give the column a `default`.",
    ),
    (
        "violates check constraint",
        "A migration forbids this value (`check`). Let the type of the form's field refuse it, such as `Text<1, 80>`.",
    ),
    (
        "syntax error at or near",
        "The database does not understand the statement at the place it names. In `sql!`, the compiler would have said so.",
    ),
    (
        "error connecting to server",
        "No PostgreSQL answers at the address in the setting `database`: start it, or mend the setting.",
    ),
    ("database \"", "PostgreSQL has no such database: make it (`createdb`), or mend the setting `database`."),
    ("role \"", "PostgreSQL has no such user: make it (`createuser`), or mend the setting `database`."),
    (
        "relation \"",
        "A migration in `migrations/postgres/` has to make it. After a change, `skep sql check` looks at all statements.",
    ),
    // What an application forgets.
    (
        "was given to App::state",
        "Give the value to the application: `App::new().state(value)`. A guard or `cx.state()` asks for exactly this type.",
    ),
    ("App::settings::<", "Declare the settings where the application is put together: `App::new().settings::<...>()`."),
    ("this application has no database", "Add `.database(migrations!(\"migrations\"))` to `App::new()`."),
    (
        "nothing sends requests here",
        "Turn the feature `fetch` of `skep-server` on in Cargo.toml; a test gives the application an `App::fetcher`.",
    ),
    ("with the cargo feature", "Turn the feature on in Cargo.toml: `skep-server = { ..., features = [\"...\"] }`."),
    // Mistakes of Rust.
    (
        "`Option::unwrap()` on a `None` value",
        "Nothing was found, and a handler must not panic for that: `.or_404()?` answers with 404.",
    ),
    (
        "called `Result::unwrap()` on an `Err`",
        "Write `?` instead of `.unwrap()`: the error becomes a 500 with its causes.",
    ),
    ("index out of bounds", "Use `.get(index)`, which returns an `Option`, and `.or_404()?`."),
    (
        "is not a char boundary",
        "A text is cut inside of a character: use `text.char_indices()` or `floor_char_boundary`.",
    ),
    ("with overflow", "A number leaves its type: use `checked_...` or `saturating_...`, or a larger type."),
    ("divide by zero", "Look at the divisor first, or use `checked_div`."),
    ("already borrowed", "A `RefCell` is borrowed across an `.await`, or twice: end the first borrow before."),
    ("already mutably borrowed", "A `RefCell` is borrowed across an `.await`, or twice: end the first borrow before."),
    ("not yet implemented", "The code says `todo!()` here: it is to be written."),
    (
        "Cannot start a runtime from within a runtime",
        "A handler runs in a runtime already: `.await` the future instead of `block_on`.",
    ),
    // Files, networks and texts.
    (
        "Address already in use",
        "Another server has this port: end it (`ss -ltnp` names it), or choose another one with `--listen 127.0.0.1:8801`.",
    ),
    (
        "Permission denied (os error 13)",
        "The user of the server may not reach this file: look at the rights of it and of its folders (`namei -l`).",
    ),
    (
        "No such file or directory (os error 2)",
        "A path is relative to the folder in which the server was started. What belongs to the program, `assets!` puts into it.",
    ),
    (
        "Too many open files (os error 24)",
        "Files or connections are opened and not closed; otherwise raise `ulimit -n`.",
    ),
    (
        "Connection refused",
        "Nothing listens at this address: start the other server, or mend the setting with its address.",
    ),
    ("failed to lookup address", "No host has this name: mend the address, or look at /etc/resolv.conf."),
    (
        "missing field `",
        "JSON lacks a field that its type has: make it an `Option`, give it `#[serde(default)]`, or mend who sends it.",
    ),
    ("invalid type: ", "JSON has another type there than its struct: mend the struct, or who sends it."),
];

/// What to do about an error with this text, if it is a common one.
///
/// ```
/// let text = "called `Option::unwrap()` on a `None` value";
/// assert!(skep_units::suggestion(text).unwrap().contains(".or_404()?"));
/// assert_eq!(skep_units::suggestion("the bees are asleep"), None);
/// ```
#[must_use]
pub fn suggestion(error: &str) -> Option<&'static str> {
    SUGGESTIONS.iter().find(|(part, _)| error.contains(part)).map(|(_, suggestion)| *suggestion)
}
