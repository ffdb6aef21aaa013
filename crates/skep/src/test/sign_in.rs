//! Signing in without a form.

use http::header::SET_COOKIE;
use http::{HeaderMap, Method};
use skep_cache::driver::block_on;

use super::Client;
use crate::body::Body;
use crate::cx::Cx;
use crate::error::Error;
use crate::people::{Account, sign_in_by_id};
use crate::request::Peer;

impl Client {
    /// Signs this client in as the account, as its sign-in form with all factors would: the next requests are this user's.
    ///
    /// ```
    /// # use skep::people::{Account, Signed};
    /// # use skep::prelude::*;
    /// # #[derive(Clone)] struct User(String);
    /// # impl Account for User {
    /// #     fn id(&self) -> String { self.0.clone() }
    /// #     fn name(&self) -> &str { &self.0 }
    /// #     fn stamp(&self) -> skep::people::Stamp { skep::people::Stamp::of(["b2f5ff47436671b6"]) }
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
    pub fn sign_in<A: Account>(&self, account: &A) {
        let id = account.id();
        let parts = self.parts(&Method::POST, "/", &HeaderMap::new());
        let cookies = block_on(self.driver.run(|local| async move {
            let resources = local.resources_for_request();
            let mut cx = Cx::new(&parts, Peer::default(), (Body::empty(), 0), &resources, local.next_id().into());
            assert!(sign_in_by_id::<A>(&mut cx, &id).await?, "there is no account with the id {id:?}");
            cx.complete().await?;
            Ok::<_, Error>(resources.cookies().take())
        }));
        let cookies = cookies.unwrap_or_else(|error| panic!("cannot sign in: {error}"));
        self.keep_cookies(&cookies.into_iter().map(|cookie| (SET_COOKIE, cookie)).collect());
    }
}
