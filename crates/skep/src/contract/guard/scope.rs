//! Scopes: whose rows a statement may reach.

use std::fmt;
use std::ops::Deref;

use super::Guard;
use crate::sql::{Parameter, ToValue, Unfit, Value};

/// Whose rows a statement may reach: a value that only a guard makes.
///
/// A migration says of a table that each of its rows belongs to somebody, in a comment:
///
/// ```sql
/// -- skep: token is scoped by user_id
/// create table token (id integer primary key autoincrement, user_id integer not null, name text not null) strict;
/// ```
///
/// From then on [`sql!`](crate::sql!) compiles a statement on that table only if it compares this column with a
/// `Scope`, wherever the table is used: in joins, subqueries, updates and deletes; a new row gets a `Scope` there. So
/// no handler forgets whose rows it shows.
///
/// ```
/// use skep::guard::{Guard, Scope, ScopeKind};
/// use skep::prelude::*;
/// # macro_rules! sql { ($($input:tt)*) => { skep::sql!(in "tests/sql/scoped"; $($input)*) } }
/// # mod stored {
/// # use skep::guard::Guard;
/// # use skep::prelude::*;
///
/// pub struct User { pub id: i64, pub account_id: i64 }
///
/// /// Somebody who is signed in. Only the guard makes one; `skep_people::Signed<User>` is such a guard, too.
/// pub struct Member(User);
///
/// impl std::ops::Deref for Member {
///     type Target = User;
///     fn deref(&self) -> &User { &self.0 }
/// }
/// # impl Guard for Member {
/// #     async fn check(_cx: &mut Cx<'_>) -> Result<Self> { Ok(Self(User { id: 1, account_id: 7 })) }
/// # }
/// # }
/// # use stored::{Member, User};
///
/// // A user's own rows.
/// impl ScopeKind for User {
///     type Account = User;
///     type Id = i64;
///     const COLUMNS: &'static [&'static str] = &["user_id"];
///
///     fn id(user: &User) -> &i64 { &user.id }
/// }
///
/// #[derive(Service)]
/// #[service(GET "/tokens")]
/// struct Tokens { #[guard] user: Member }
///
/// impl Handle for Tokens {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         let mine = Scope::<User>::of(&self.user);
///         let tokens = cx.db().all(sql!("select name from token where user_id = ?", mine)).await?;
///         Ok(Response::html(html! { @for token in &tokens { p { (token.name) } } }))
///     }
/// }
/// ```
///
/// It borrows from the guard's value, so that it ends with the request. [`ScopeKind::COLUMNS`] says which columns it is
/// compared with: the scope of another kind does not compile.
///
/// ```compile_fail,E0080
/// # use skep::guard::{Guard, Scope, ScopeKind};
/// # use skep::prelude::*;
/// # macro_rules! sql { ($($input:tt)*) => { skep::sql!(in "tests/sql/scoped"; $($input)*) } }
/// # struct User { id: i64, account_id: i64 }
/// # struct Member(User);
/// # impl std::ops::Deref for Member {
/// #     type Target = User;
/// #     fn deref(&self) -> &User { &self.0 }
/// # }
/// # impl Guard for Member {
/// #     async fn check(_cx: &mut Cx<'_>) -> Result<Self> { Ok(Self(User { id: 1, account_id: 7 })) }
/// # }
/// // The rows of the user's account.
/// struct OfAccount;
///
/// impl ScopeKind for OfAccount {
///     type Account = User;
///     type Id = i64;
///     const COLUMNS: &'static [&'static str] = &["account_id", "account.id"];
///
///     fn id(user: &User) -> &i64 { &user.account_id }
/// }
///
/// fn example(user: &Member) {
///     // The id of an account is no id of a user.
///     sql!("select name from token where user_id = ?", Scope::<OfAccount>::of(user));
/// }
/// # fn main() { example(&Member(User { id: 1, account_id: 7 })) }
/// ```
///
/// Nor does one of a [`State`](super::State), whatever it holds: that is there for every request.
///
/// ```compile_fail,E0080
/// # use skep::guard::{Scope, ScopeKind, State};
/// # use skep::prelude::*;
/// # struct User { id: i64 }
/// # impl ScopeKind for User {
/// #     type Account = User;
/// #     type Id = i64;
/// #     const COLUMNS: &'static [&'static str] = &["user_id"];
/// #     fn id(user: &User) -> &i64 { &user.id }
/// # }
/// #[derive(Service)]
/// #[service(GET "/tokens")]
/// struct Tokens { #[state] somebody: State<User> }
///
/// impl Handle for Tokens {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result {
///         Ok(Response::text(Scope::<User>::of(&self.somebody).id().to_string()))
///     }
/// }
/// # fn main() { let _ = App::new().serve(services![Tokens]); }
/// ```
pub struct Scope<'g, S: ScopeKind>(&'g S::Id);

/// A kind of [`Scope`]: a user's own rows, those of a company, of a team.
///
/// A type of the application's accounts may stand for its own kind; further ones are types without a value. See
/// [`Scope`] for examples.
pub trait ScopeKind: 'static {
    /// Who has it: guards that give this by [`Deref`] make the scope, as `Signed<User>` gives a `User`.
    type Account;

    /// What is in the columns.
    type Id: ToValue;

    /// The columns that it is compared with: `"user_id"` in any table, `"user.id"` in one.
    const COLUMNS: &'static [&'static str];

    /// The value of the scope.
    fn id(account: &Self::Account) -> &Self::Id;
}

impl<'g, S: ScopeKind> Scope<'g, S> {
    /// The scope of who was admitted.
    #[must_use]
    pub fn of<G: Guard + Deref<Target = S::Account>>(guard: &'g G) -> Self {
        const { assert!(G::ADMITS, "a `State` admits everybody: make the `Scope` of the value of a guard") };
        Self(S::id(guard))
    }

    /// The value in the columns.
    #[must_use]
    pub fn id(self) -> &'g S::Id {
        self.0
    }
}

impl<S: ScopeKind> Clone for Scope<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: ScopeKind> Copy for Scope<'_, S> {}

impl<S: ScopeKind<Id: fmt::Debug>> fmt::Debug for Scope<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scope").field(self.0).finish()
    }
}

impl<'q, S: ScopeKind> Parameter<'q> for Scope<'q, S> {
    type Sql = <S::Id as ToValue>::Sql;

    fn into_value(self) -> Result<Value<'q>, Unfit> {
        self.0.to_value()
    }
}

/// A column that rows are scoped by. Written by [`sql!`](crate::sql!).
#[doc(hidden)]
pub trait ScopeColumn {
    const TABLE: &'static str;
    const COLUMN: &'static str;
}

/// What may be compared with a column that rows are scoped by: a [`Scope`].
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the rows of this table are scoped by `{C}`, which is compared with a `Scope`, and this is `{Self}`",
    label = "this does not prove whose rows may be reached",
    note = "a guard's value gives a scope: `Scope::<User>::of(&self.user)`; see `skep::guard::Scope`",
    note = "where rows of everybody are meant, the statement says why: `sql!(unscoped \"the reason\"; \"select ...\")`"
)]
pub trait IsScope<C>: Sealed {
    const IS_OF_COLUMN: bool;
}

/// Nothing else is a [`Scope`].
#[doc(hidden)]
pub trait Sealed {}

impl<S: ScopeKind> Sealed for Scope<'_, S> {}

impl<S: ScopeKind, C: ScopeColumn> IsScope<C> for Scope<'_, S> {
    const IS_OF_COLUMN: bool = is_one_of(S::COLUMNS, C::TABLE, C::COLUMN);
}

/// Passes a value on that is a [`Scope`] for this column.
#[doc(hidden)]
#[must_use]
pub fn scope<C, S: IsScope<C>>(scope: S) -> S {
    const { assert!(S::IS_OF_COLUMN, "this `Scope` is for other columns: see `ScopeKind::COLUMNS` of its kind") };
    scope
}

/// True if one of the names is that of the column: `column`, or `table.column`.
const fn is_one_of(names: &[&str], table: &str, column: &str) -> bool {
    let mut nth = 0;
    while nth < names.len() {
        let name = names[nth].as_bytes();
        if ends_with(name, column.as_bytes(), name.len()) {
            let rest = name.len() - column.len();
            let is_of_table = rest > 0 && name[rest - 1] == b'.' && ends_with(name, table.as_bytes(), rest - 1);
            if rest == 0 || (is_of_table && rest - 1 == table.len()) {
                return true;
            }
        }
        nth += 1;
    }
    false
}

/// True if what comes before `until` ends with this, without regard to case, as SQLite compares names.
const fn ends_with(name: &[u8], end: &[u8], until: usize) -> bool {
    if end.len() > until {
        return false;
    }
    let mut nth = 0;
    while nth < end.len() {
        if !name[until - end.len() + nth].eq_ignore_ascii_case(&end[nth]) {
            return false;
        }
        nth += 1;
    }
    true
}

#[cfg(test)]
#[path = "../../../tests/unit/scope.rs"]
mod tests;
