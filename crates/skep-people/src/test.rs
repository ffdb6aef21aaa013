//! Signing in without a form, for tests of an application. With the cargo feature `test`, for dev-dependencies.

use skep::test::Client;

use crate::account::Account;
use crate::sign_in::sign_in_by_id;

/// Signs a [`Client`] in.
pub trait SignIn {
    /// Signs this client in as the account, as its sign-in form with all factors would: the next requests are this
    /// user's.
    ///
    /// ```
    /// # use skep::prelude::*;
    /// # use skep_people::{Account, Signed};
    /// use skep_people::test::SignIn;
    ///
    /// # #[derive(Clone)] struct User(String);
    /// # impl Account for User {
    /// #     fn id(&self) -> String { self.0.clone() }
    /// #     fn name(&self) -> &str { &self.0 }
    /// #     fn stamp(&self) -> skep_people::Stamp { skep_people::Stamp::of(["b2f5ff47436671b6"]) }
    /// #     async fn find(_cx: &Cx<'_>, id: &str) -> Result<Option<Self>> { Ok(Some(Self(id.into()))) }
    /// # }
    /// # #[derive(Service)] #[service(GET "/profile")] struct Profile { #[guard] user: Signed<User> }
    /// # impl Handle for Profile {
    /// #     async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text(self.user.name().to_owned())) }
    /// # }
    /// # fn app() -> App { App::new().serve(services![Profile]) }
    /// let client = skep::test::Client::new(app());
    /// assert_eq!(client.get("/profile").status(), 401);
    /// client.sign_in(&User("ada".into()));
    /// assert_eq!(client.get("/profile").text(), "ada");
    /// ```
    ///
    /// # Panics
    /// If [`Account::find`] does not find the account, or the session cannot be stored.
    fn sign_in<A: Account>(&self, account: &A);
}

impl SignIn for Client {
    fn sign_in<A: Account>(&self, account: &A) {
        let id = account.id();
        let work = async move |cx: &mut skep::Cx<'_>| {
            assert!(sign_in_by_id::<A>(cx, &id).await?, "there is no account with the id {id:?}");
            Ok(())
        };
        self.with_cx(work).unwrap_or_else(|error| panic!("cannot sign in: {error}"));
    }
}
