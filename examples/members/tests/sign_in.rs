//! Signing up, in and out, as a browser sees it.

#[path = "support/client.rs"]
mod support;

use skep::prelude::*;
use skep::test::{Client, TestResponse};

use skep_people::pages::{SignIn, SignInPage, SignOut, SignUp, SignUpPage};

use support::{PASSWORD, client, sign_up, visitor};

fn sign_in(client: &Client, page: &str, password: &str) -> TestResponse {
    let form = client.get(page).form::<SignIn>();
    let form = form.set(SignIn::email, "ann@example.org");
    form.set(SignIn::password, password).submit()
}

#[test]
fn who_has_signed_up_signs_out_and_in() {
    let client = client();
    let out = client.get("/notes").form::<SignOut>().submit();
    assert_eq!(out.url(), SignInPage::link().url());
    assert_eq!(
        client.get("/notes/edit").url(),
        "/sign-in?back=%2Fnotes%2Fedit"
    );

    let back = sign_in(&client, "/notes/edit", PASSWORD);
    assert_eq!((back.status().as_u16(), back.url()), (200, "/notes/edit"));
}

#[test]
fn a_wrong_password_is_refused() {
    let client = client();
    client.get("/notes").form::<SignOut>().submit();
    let refused = sign_in(&client, "/sign-in", "another basket");
    assert_eq!(refused.status(), 422);
    assert!(
        refused
            .text()
            .contains("E-mail address or password is wrong.")
    );
}

#[test]
fn nobody_gets_in_without_an_account() {
    let client = visitor();
    for path in ["/", "/notes", "/notes/1", "/notes/edit"] {
        assert!(client.get(path).url().starts_with("/sign-in"), "{path}");
    }
    let refused = client.request(skep::Method::POST, "/notes/1/delete");
    let refused = refused.without_redirects().send();
    assert_eq!(refused.status(), 303);
}

#[test]
fn an_address_signs_up_once() {
    let client = client();
    client.get("/notes").form::<SignOut>().submit();
    let form = client.get(&SignUpPage.url()).form::<SignUp>();
    let sent = form.set(SignUp::email, "ann@example.org").submit();
    assert!(sent.text().contains("We have sent you a mail."));
    let mail = client.mails().pop().unwrap();
    assert_eq!(mail.subject, "You have an account");

    let other = sign_up(&client, "bob@example.org");
    assert_eq!(other.status(), 200);
}
