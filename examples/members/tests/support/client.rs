//! Browsers, each with a database of its own.
#![allow(dead_code, reason = "each program of tests uses some of it")]

use skep::prelude::*;
use skep::test::{Client, TestResponse};
use skep_people::pages::{CreateAccount, SignUp, SignUpPage};

use members::app;

/// A password.
pub(crate) const PASSWORD: &str = "a straw basket";

/// A browser of somebody who has signed up.
pub(crate) fn client() -> Client {
    let client = visitor();
    let page = sign_up(&client, "ann@example.org");
    assert!(page.text().contains("Sign out"), "{}", page.text());
    client
}

/// A browser of somebody unknown.
pub(crate) fn visitor() -> Client {
    Client::new(app())
}

/// Signs up, as somebody does who gets the mail.
pub(crate) fn sign_up(client: &Client, email: &str) -> TestResponse {
    let form = client.get(&SignUpPage.url()).form::<SignUp>();
    form.set(SignUp::email, email).submit();
    let mail = client.mails().pop().expect("a mail with a link");
    let link = mail.text.split_once("/sign-up/").expect("a link").1;
    let form = client.get(&format!("/sign-up/{link}"));
    let form = form.form::<CreateAccount>();
    form.set(CreateAccount::password, PASSWORD).submit()
}
