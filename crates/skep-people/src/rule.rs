//! Rules, for the guard [`Allowed`](crate::Allowed).

use skep::{Cx, Error, Result};

use crate::account::Account;
use crate::messages::AccountMessages;

/// Who may do something, for [`Allowed`](crate::Allowed).
///
/// ```
/// use skep_people::{Account, Allowed, Rule};
/// use skep::prelude::*;
///
/// struct User { admin: bool }
/// # impl Account for User {
/// #     fn id(&self) -> String { "1".into() }
/// #     fn name(&self) -> &str { "Ada" }
/// #     fn stamp(&self) -> skep_people::Stamp { skep_people::Stamp::of(["b2f5ff47436671b6"]) }
/// #     async fn find(_cx: &Cx<'_>, _id: &str) -> Result<Option<Self>> { Ok(Some(Self { admin: false })) }
/// # }
///
/// struct Administrate;
///
/// impl Rule for Administrate {
///     type Account = User;
///
///     async fn allows(user: &User, _cx: &Cx<'_>) -> Result<bool> { Ok(user.admin) }
/// }
///
/// #[derive(Service)]
/// #[service(GET "/admin")]
/// struct Admin { #[guard] admin: Allowed<Administrate> }
///
/// impl Handle for Admin {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text(format!("hello, {}", self.admin.name()))) }
/// }
/// assert_eq!(skep::test::Client::new(App::new().serve(services![Admin])).get("/admin").status(), 401);
/// ```
///
/// What the account itself tells is shorter as [`rule!`](crate::rule).
pub trait Rule: 'static {
    /// Whom it judges.
    type Account: Account;

    /// True if this account may do it.
    #[expect(async_fn_in_trait, reason = "a guard stays on the thread that accepted its connection")]
    async fn allows(account: &Self::Account, cx: &Cx<'_>) -> Result<bool>;

    /// What others who are signed in get. Default: 403.
    fn refuse(account: &Self::Account, cx: &Cx<'_>) -> Error {
        let _ = account;
        Error::forbidden(AccountMessages::of(cx).forbidden)
    }
}

/// Rules that need nothing but the account: each is a type for [`Allowed`](crate::Allowed).
///
/// ```
/// use skep_people::{Allowed, rule};
/// use skep::prelude::*;
/// # use skep_people::Account;
/// # impl Account for User {
/// #     fn id(&self) -> String { "1".into() }
/// #     fn name(&self) -> &str { "Ada" }
/// #     fn stamp(&self) -> skep_people::Stamp { skep_people::Stamp::of(["b2f5ff47436671b6"]) }
/// #     async fn find(_cx: &Cx<'_>, _id: &str) -> Result<Option<Self>> { Ok(Some(Self { role: Role::Trainer })) }
/// # }
///
/// #[derive(PartialEq)]
/// enum Role { Member, Trainer, Admin }
///
/// struct User { role: Role }
///
/// rule! {
///     /// Trainers and admins.
///     Staff: |user: &User| user.role != Role::Member;
///     /// Admins alone.
///     pub Admin: |user: &User| user.role == Role::Admin;
/// }
///
/// #[derive(Service)]
/// #[service(GET "/accounts", guard = Allowed<Admin>)]
/// struct Accounts;
/// # impl Handle for Accounts { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
/// # let _ = std::any::type_name::<Allowed<Staff>>();
/// # assert_eq!(skep::test::Client::new(App::new().serve(services![Accounts])).get("/accounts").status(), 401);
/// ```
#[macro_export]
macro_rules! rule {
    ($($(#[$attribute:meta])* $visibility:vis $name:ident: |$account:ident: &$kind:ty| $allows:expr;)+) => {$(
        $(#[$attribute])*
        #[derive(Debug)]
        $visibility struct $name;

        impl $crate::Rule for $name {
            type Account = $kind;

            async fn allows($account: &$kind, _: &::skep::Cx<'_>) -> ::skep::Result<bool> {
                ::core::result::Result::Ok($allows)
            }
        }
    )+};
}
