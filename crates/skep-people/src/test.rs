//! Signing in without a form, for tests of an application. With the cargo feature `test`, for dev-dependencies.

use skep::Cx;
use skep::test::Client;

use crate::account::Account;
use crate::link::MailAccount;
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

    /// The same for the account with this e-mail address: `client.sign_in_as::<User>("ada@example.org")`.
    ///
    /// # Panics
    /// As [`sign_in`](Self::sign_in), and if there is no account with the address.
    fn sign_in_as<A: MailAccount>(&self, email: &str);
}

impl SignIn for Client {
    fn sign_in<A: Account>(&self, account: &A) {
        sign_in_with_id::<A>(self, account.id());
    }

    fn sign_in_as<A: MailAccount>(&self, email: &str) {
        let address = email.to_owned();
        let find = async move |cx: &mut Cx<'_>| Ok(A::find_by_email(cx, &address).await?.map(|account| account.id()));
        let id = self.with_cx(find).unwrap_or_else(|error| panic!("cannot find {email}: {error}"));
        sign_in_with_id::<A>(self, id.unwrap_or_else(|| panic!("there is no account with the address {email}")));
    }
}

fn sign_in_with_id<A: Account>(client: &Client, id: String) {
    let work = async move |cx: &mut Cx<'_>| {
        assert!(sign_in_by_id::<A>(cx, &id).await?, "there is no account with the id {id:?}");
        Ok(())
    };
    client.with_cx(work).unwrap_or_else(|error| panic!("cannot sign in: {error}"));
}
