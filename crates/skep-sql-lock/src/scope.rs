//! Whose rows a statement reaches, of tables that a migration scopes: `-- skep: token is scoped by user_id`.
//!
//! The rules are those of the two databases; what is said to a developer is the same. Start reading at [`Reach`].

use std::collections::BTreeSet;

/// A parameter that must be a `Scope`, for this column.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Proof {
    /// From 1.
    pub parameter: usize,
    /// The scoped table.
    pub table: String,
    /// By which it is scoped.
    pub column: String,
}

/// Which rows of scoped tables a statement reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It uses no scoped table.
    NoScoped,
    /// Those of the scopes that are given for these parameters.
    Scoped(BTreeSet<Proof>),
    /// Maybe those of everybody: why, a text for the developer.
    Everybody(String),
}

/// A directive names what is not there.
#[must_use]
pub fn no_column(table: &str, column: &str) -> String {
    format!("`{table} is scoped by {column}`: there is no such column of a table")
}

/// A directive takes back what was not said.
#[must_use]
pub fn not_scoped_before(table: &str) -> String {
    format!("`{table}` was not scoped before")
}

/// A migration takes the column away that says whose rows are.
#[must_use]
pub fn lost(table: &str, column: &str) -> String {
    format!(
        "`{table}` is scoped by `{column}`, and this migration takes that column away; say what holds now: \
         `-- skep: {table} is not scoped`, and for a new name `-- skep: NAME is scoped by COLUMN`"
    )
}

/// Nothing is compared with a `Scope`. The statement calls the table `name`.
#[must_use]
pub fn missing(name: &str, table: &str, column: &str) -> String {
    let called = if name == table { format!("`{table}`") } else { format!("`{name}`, which is `{table}`,") };
    format!(
        "{called} is scoped by `{column}`, and nothing says here whose rows are meant\n\
         help: add `{name}.{column} = ?` with a `Scope` to the conditions that all must hold, those between `and`"
    )
}

/// A row is given to somebody who has no `Scope`.
#[must_use]
pub fn given(table: &str, column: &str) -> String {
    format!(
        "`{column}` says whose a row of `{table}` is, and gets a value here that is no `Scope`\n\
         help: give it a `?` with a `Scope`, or a column that is compared with one"
    )
}

/// A view, or what else has rows of a scoped table.
#[must_use]
pub fn through(name: &str, table: &str) -> String {
    format!(
        "`{name}` is made of `{table}`, which is scoped, and shows rows of everybody\n\
         help: write the statement with the table itself, which can be compared with a `Scope`"
    )
}

/// The syntax, or the tree of the statement, is not understood.
#[must_use]
pub fn unfollowed(table: &str) -> String {
    format!("`{table}` is scoped, and this statement is written in a way that `sql!` cannot follow")
}

/// A function, a trigger or a rule does what the statement does not say: `what`, and why that matters.
#[must_use]
pub fn beyond(what: &str, why: &str) -> String {
    format!(
        "{what} may reach rows of everybody: {why}\n\
         help: if that is right, say why: `sql!(unscoped \"the reason\"; \"select ...\")`"
    )
}

/// A parameter that must be a `Scope` is a list.
pub const NO_LIST: &str = "a `Scope` is one value, and a list is compared here";

/// `unscoped` says nothing.
pub const NEEDLESS: &str = "no table of this statement is scoped: leave out `unscoped`";
