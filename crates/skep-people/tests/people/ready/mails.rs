//! Mails of the ready pages, and their links.

use super::*;

fn forget(client: &Client, email: &str) -> TestResponse {
    let form = client.get("/forgotten-password").form::<SendPasswordLink>();
    form.set(SendPasswordLink::email, email).submit()
}

#[test]
fn an_owner_gets_mails_in_their_language_and_a_stranger_learns_it_not() {
    let (ada, _) = visitor();
    sign_up(&ada, ADA);
    write(&ada, "update member set language = 'de'");
    let eve = another(&ada);
    let ask =
        |path: &str, email: &str| eve.request(Method::POST, path).form(&[("email", email)]).without_redirects().send();
    for (path, subject) in [("/forgotten-password", "Ein neues Passwort"), ("/sign-up", "Sie haben schon ein Konto")] {
        let known = ask(path, ADA);
        assert_eq!(eve.mails().pop().unwrap().subject, subject);
        let shown = eve.get("/sign-in").text().to_owned();
        assert!(shown.contains("<html lang=\"en\">") && shown.contains("role=\"status\""), "{shown}");
        let unknown = ask(path, "eve@example.org");
        assert_eq!(eve.get("/sign-in").text(), shown);
        for field in ["vary", "content-language", "cache-control", "location"] {
            assert_eq!(known.header(field), unknown.header(field), "{field} of {path}");
        }
    }
    assert_eq!(eve.mails().pop().unwrap().subject, "Welcome", "hers is in the language of her request");
}

#[test]
fn a_link_to_a_locked_account_or_of_before_a_new_password_shows_no_form() {
    let (ada, _) = visitor();
    sign_up(&ada, ADA);
    forget(&ada, ADA);
    let path = link(&ada);
    let page = ada.get(&path);
    assert!(page.text().contains("autocomplete=\"username\" value=\"ada@example.org\""), "{}", page.text());
    write(&ada, "update member set locked = 1");
    assert_eq!(ada.get(&path).status(), 404);
    write(&ada, "update member set locked = 0");
    assert_eq!(ada.get(&path).status(), 200);
    let form = ada.get("/change-password").form::<ChangePassword>();
    form.set(ChangePassword::old, PASSWORD).set(ChangePassword::new, OTHER).submit();
    assert_eq!(ada.get(&path).status(), 404, "it is of before the new password");
}

#[test]
fn the_mail_to_sign_up_says_how_long_it_is_good_for() {
    let (ada, _) = visitor();
    ada.get("/sign-up").form::<SignUp>().set(SignUp::email, ADA).submit();
    let mail = ada.mails().pop().unwrap();
    assert!(mail.text.contains("within a day") && mail.text.contains("If it was not you"), "{}", mail.text);
}
