//! Rules in a line each, for the guard [`Allowed`](crate::Allowed).

/// Rules that need nothing but the account: each is a [`Rule`](crate::Rule), for [`Allowed`](crate::Allowed).
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
///     Admin: |user: &User| user.role == Role::Admin;
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
