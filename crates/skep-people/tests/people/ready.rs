//! The ready pages, of an account that is derived.

mod app;
mod mails;
mod programs;
mod start;

use std::time::Duration;

use skep::sql::query;
use skep::test::{Client, TestResponse};
use skep::{Method, Setup};
use skep_cache::Clock;
use skep_people::pages::{ChangePassword, CreateAccount, SendPasswordLink, SetPassword, SignIn, SignUp};

const ADA: &str = "ada@example.org";
const PASSWORD: &str = "a bee in the bonnet";
const OTHER: &str = "two bees in the bonnet";

/// A visitor of an application without accounts, and its clock.
fn visitor() -> (Client, Clock) {
    visitor_of(Setup::default())
}

fn visitor_of(mut setup: Setup) -> (Client, Clock) {
    (setup.temporary_database, setup.clock) = (true, Clock::manual());
    let clock = setup.clock.clone();
    (Client::with_setup(app::app(), setup), clock)
}

/// Another browser.
fn another(client: &Client) -> Client {
    Client::of_site(client.site())
}

/// The path of the link in the last mail.
fn link(client: &Client) -> String {
    let mail = client.mails().pop().expect("there is a mail");
    let (_, path) = mail.text.split_once("http://localhost").expect("there is a link in the mail");
    path.split_whitespace().next().unwrap().to_owned()
}

fn sign_up(client: &Client, email: &str) -> TestResponse {
    client.get("/sign-up").form::<SignUp>().set(SignUp::email, email).submit();
    let form = client.get(&link(client)).form::<CreateAccount>();
    form.set(CreateAccount::name, "Ada").set(CreateAccount::password, PASSWORD).submit()
}

/// What an account is changed by, which no page changes.
fn write(client: &Client, update: &'static str) {
    client.site().db().write(|db| db.execute(query::<()>(update, ()))).unwrap();
}

fn sign_in(client: &Client, path: &str, password: &str) -> TestResponse {
    client.get(path).form::<SignIn>().set(SignIn::email, "Ada@Example.org").set(SignIn::password, password).submit()
}

#[test]
fn who_signs_up_by_the_link_of_a_mail_is_signed_in() {
    let (ada, _) = visitor();
    let sent = ada.get("/sign-up").form::<SignUp>().set(SignUp::email, "Ada@Example.org").submit();
    assert!(sent.text().contains("We have sent you a mail."), "{}", sent.text());
    let path = link(&ada);
    let form = || ada.get(&path).form::<CreateAccount>().set(CreateAccount::password, PASSWORD);
    let nameless = form().submit();
    assert!(nameless.status() == 422 && nameless.text().contains("Please say your name."), "{}", nameless.text());
    let weak = form().set(CreateAccount::name, "Ada").set(CreateAccount::password, "password1234").submit();
    assert!(weak.status() == 422 && weak.text().contains("guessed first"), "{}", weak.text());
    let home = form().set(CreateAccount::name, "Ada").submit();
    assert!(home.url() == "/" && home.text().contains("hello, Ada"), "{}", home.text());
    let used = ada.get(&path);
    assert!(used.status() == 404 && used.text().contains("This link was used"), "{}", used.text());
    let again = another(&ada);
    again.get("/sign-up").form::<SignUp>().set(SignUp::email, ADA).submit();
    assert_eq!(again.mails().pop().unwrap().subject, "You have an account");
}

#[test]
fn two_links_to_one_address_make_one_account() {
    let (ada, _) = visitor();
    let links = [(); 2].map(|()| {
        ada.get("/sign-up").form::<SignUp>().set(SignUp::email, ADA).submit();
        link(&ada)
    });
    let answers = links.map(|path| {
        let form = another(&ada).get(&path).form::<CreateAccount>();
        form.set(CreateAccount::name, "Ada").set(CreateAccount::password, PASSWORD).submit()
    });
    assert_eq!(answers.each_ref().map(|answer| answer.status().as_u16()), [200, 409]);
    assert!(answers[1].text().contains("href=\"/sign-in\""), "{}", answers[1].text());
}

#[test]
fn what_refuses_an_account_leaves_its_link_and_is_shown() {
    let (ada, _) = visitor();
    ada.get("/sign-up").form::<SignUp>().set(SignUp::email, ADA).submit();
    let path = link(&ada);
    let page = ada.get(&path);
    assert!(page.text().contains("autocomplete=\"username\" value=\"ada@example.org\""), "{}", page.text());
    let create = |name: &str| {
        let form = ada.get(&path).form::<CreateAccount>();
        form.set(CreateAccount::name, name).set(CreateAccount::password, PASSWORD).submit()
    };
    let taken = create("root");
    assert!(taken.status() == 422 && taken.text().contains("This name is taken."), "{}", taken.text());
    assert_eq!(create("Broken").status(), 500, "it is no account that exists");
    write(&ada, "delete from member");
    assert_eq!(create("Twice").status(), 409, "the unique index says it");
    write(&ada, "delete from member");
    let waiting = create("Nobody yet");
    assert!(waiting.url() == "/sign-in" && waiting.text().contains("once it is approved"), "{}", waiting.text());
    assert_eq!(sign_in(&ada, "/sign-in", PASSWORD).status(), 422);
}

#[test]
fn a_derived_account_with_a_name_signs_in_with_its_address() {
    let mut setup = Setup::default();
    setup.notices = true;
    let (ada, _) = visitor_of(setup);
    assert!(sign_up(&ada, ADA).text().contains("welcome, ada@example.org"), "the application knows that she is in");
    let subjects = || ada.mails().into_iter().map(|mail| mail.subject).collect::<Vec<_>>();
    assert_eq!(subjects(), ["Welcome"], "who has just signed up is at no new device");
    let elsewhere = another(&ada);
    assert!(sign_in(&elsewhere, "/sign-in", PASSWORD).text().contains("hello, Ada"));
    assert_eq!(subjects(), ["Welcome", "New sign-in"], "notices go to the address, whatever the name is");
}

#[test]
fn the_way_to_the_second_factor_leads_nowhere_else() {
    let (two, _) = visitor();
    assert_eq!(sign_up(&two, "two@example.org").text(), "and the code? None");
    let sign_in = |path: &str| {
        let form = two.get(path).form::<SignIn>().set(SignIn::email, "two@example.org");
        form.set(SignIn::password, PASSWORD).submit().text().to_owned()
    };
    assert_eq!(sign_in("/sign-in?back=%2F%3Fpage%3D7"), "and the code? Some(\"/?page=7\")");
    assert_eq!(sign_in("/sign-in?back=%2F%2Fevil.example%2F"), "and the code? None");
    write(&two, "update member set language = 'de'");
    assert_eq!(two.get("/code").text(), "Ada: de");
}

#[test]
fn who_signs_in_comes_back_to_the_page_and_nowhere_else() {
    let (ada, _) = visitor();
    sign_up(&ada, ADA);
    let ada = another(&ada);
    let asked = ada.get("/?page=7");
    assert_eq!(asked.url(), "/sign-in?back=%2F%3Fpage%3D7");
    assert!(asked.text().contains("Forgotten your password?") && asked.text().contains("/sign-up"), "{}", asked.text());
    let wrong = sign_in(&ada, asked.url(), "a wasp in the bonnet");
    assert!(wrong.status() == 422 && wrong.text().contains("address or password is wrong"), "{}", wrong.text());
    let back = wrong.form::<SignIn>().set(SignIn::password, PASSWORD).submit();
    assert!(back.url() == "/?page=7" && back.text().contains("page 7"), "{}", back.url());
    let out = ada.post("/sign-out", &[]);
    assert_eq!(out.url(), "/sign-in");
    assert!(ada.get("/").url().starts_with("/sign-in"));
    assert_eq!(sign_in(&ada, "/sign-in?back=//evil.example/", PASSWORD).url(), "/");
    assert_eq!(another(&ada).post("/sign-out", &[]).url(), "/sign-in", "the form of a session that has ended");
    assert_eq!(ada.get("/").url(), "/", "and nobody else is out");
}

#[test]
fn a_forgotten_password_is_replaced_and_nobody_learns_who_has_an_account() {
    let (ada, _) = visitor();
    sign_up(&ada, ADA);
    let stranger = another(&ada);
    let ask = |email: &str| {
        let form = stranger.get("/forgotten-password").form::<SendPasswordLink>();
        form.set(SendPasswordLink::email, email).submit().text().to_owned()
    };
    let before = stranger.mails().len();
    let unknown = ask("eve@example.org");
    assert_eq!(stranger.mails().len(), before);
    assert!(unknown.contains("If there is an account with this address"), "{unknown}");
    assert_eq!(ask("ADA@example.org"), unknown);
    let path = link(&stranger);
    let form = || stranger.get(&path).form::<SetPassword>();
    for weak in ["password1234", "ada@example.org"] {
        assert_eq!(form().set(SetPassword::password, weak).submit().status(), 422, "{weak}");
    }
    let saved = form().set(SetPassword::password, OTHER).submit();
    assert!(saved.url() == "/sign-in" && saved.text().contains("The new password is saved."), "{}", saved.text());
    assert!(ada.get("/").url().starts_with("/sign-in"), "her sessions have ended");
    assert_eq!(stranger.get(&path).status(), 404);
    assert_eq!(sign_in(&stranger, "/sign-in", OTHER).url(), "/");
}

#[test]
fn who_changes_the_password_stays_and_others_are_out() {
    let (ada, _) = visitor();
    assert_eq!(ada.get("/change-password").url(), "/sign-in?back=%2Fchange-password");
    assert!(ada.post("/change-password", &[("old", PASSWORD), ("new", OTHER)]).url().starts_with("/sign-in"));
    sign_up(&ada, ADA);
    let elsewhere = another(&ada);
    sign_in(&elsewhere, "/sign-in", PASSWORD);
    let change = |old: &str, new: &str| {
        let form = ada.get("/change-password").form::<ChangePassword>();
        form.set(ChangePassword::old, old).set(ChangePassword::new, new).submit()
    };
    assert!(change("a wasp in the bonnet", OTHER).text().contains("This is not your password."));
    assert_eq!(change(PASSWORD, "ada@example.org").status(), 422);
    let changed = change(PASSWORD, OTHER);
    assert!(changed.url() == "/" && changed.text().contains("The new password is saved."), "{}", changed.text());
    assert!(elsewhere.get("/").url().starts_with("/sign-in"));
}

#[test]
fn the_pages_speak_german_to_who_reads_it() {
    let (ada, _) = visitor();
    let page = |path: &str| {
        let answer = ada.request(Method::GET, path).header("accept-language", "de").send();
        answer.text().to_owned()
    };
    for (path, text) in [
        ("/sign-in", "Passwort vergessen?"),
        ("/sign-up", "Konto anlegen"),
        ("/forgotten-password", "Link senden"),
        ("/sign-up/unknown", "Dieser Link wurde benutzt"),
    ] {
        assert!(page(path).contains(text), "{path}: {}", page(path));
    }
    let form = [("email", "nora@example.org")];
    ada.request(Method::POST, "/sign-up").header("accept-language", "de").form(&form).send();
    assert_eq!(ada.mails().pop().unwrap().subject, "Willkommen");
}

#[test]
fn a_derived_account_is_locked_by_its_filter_and_speaks_its_language() {
    let (ada, _) = visitor();
    sign_up(&ada, ADA);
    write(&ada, "update member set language = 'de'");
    assert!(ada.get("/").text().contains("<html lang=\"de\">"));
    write(&ada, "update member set locked = 1");
    assert!(ada.get("/").url().starts_with("/sign-in"));
    assert_eq!(sign_in(&ada, "/sign-in", PASSWORD).status(), 422);
}

#[test]
fn tokens_rules_and_guards_of_a_derived_account_hold() {
    let (ada, clock) = visitor();
    sign_up(&ada, ADA);
    let token = ada.post("/token", &[]).text().to_owned();
    let program = another(&ada);
    let me = program.request(Method::GET, "/api/me").header("authorization", &format!("Bearer {token}")).send();
    assert_eq!(me.text(), "Ada");
    assert_eq!(ada.get("/house").status(), 403);
    assert_eq!(ada.post("/house", &[("number", "x")]).status(), 403, "the page of the form has a guard of its own");
    clock.advance(Duration::from_mins(11));
    let stale = |page: &str| ada.request(Method::POST, "/token").header("referer", page).send().url().to_owned();
    assert_eq!(stale("http://localhost/?page=2"), "/sign-in?back=%2F%3Fpage%3D2", "it has to be proved again");
    assert_eq!(stale("http://localhost.example/"), "/sign-in", "another site");
    let (house, _) = visitor();
    sign_up(&house, "bo@house.example");
    assert!(house.get("/house").text().contains("Of the house"));
    let again = house.post("/house", &[("number", "x")]);
    assert!(again.status() == 422 && again.text().contains("Of the house"), "{}", again.text());
}
