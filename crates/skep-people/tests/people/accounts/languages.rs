//! What this crate itself says, to users of several languages.

use std::sync::Arc;

use skep::form::Messages;
use skep::test::{Client, TestResponse};
use skep::{Method, Setup};
use skep_cache::Clock;
use skep_people::{AccountLanguages, AccountMessages};

use super::{ADA, PASSWORD, World, app};

/// What the texts of skep itself are, `skep-language` tests.
const GERMAN: Messages = Messages { language: "de", ..Messages::ENGLISH };
const FRENCH: Messages = Messages { language: "fr", ..Messages::ENGLISH };
const OF_ACCOUNTS: AccountMessages =
    AccountMessages { language: "fr", too_often: "Trop souvent.", ..AccountMessages::ENGLISH };

fn world() -> World {
    let app = app::app().languages([Messages::ENGLISH, GERMAN, FRENCH]).state(AccountLanguages::new([OF_ACCOUNTS]));
    let mut setup = Setup::default();
    (setup.notices, setup.clock) = (true, Clock::manual());
    let clock = setup.clock.clone();
    World { site: Arc::new(app.open(setup).unwrap()), clock }
}

fn post(client: &Client, language: &str, path: &str, fields: &[(&str, &str)]) -> TestResponse {
    client.request(Method::POST, path).header("accept-language", language).form(fields).send()
}

#[test]
fn a_weak_password_is_refused_in_the_language_of_the_request() {
    let world = world();
    let client = world.client();
    client.post("/sign-up", &[("email", ADA)]);
    let link = world.link();
    for (language, said) in
        [("de-AT", "die zuerst erraten werden."), ("en", "that are guessed first."), ("sv", "first.")]
    {
        let weak = post(&client, language, &link, &[("password", "password1234")]);
        assert!(weak.status() == 422 && weak.text().contains(said), "{language}: {}", weak.text());
    }
    let not_email = post(&client, "de", "/sign-up", &[("email", "Ada <ada@example.org>")]);
    assert!(not_email.status() == 422, "{}", not_email.text());
}

#[test]
fn who_tries_too_often_reads_why() {
    let (world, _) = world().and_ada();
    let client = world.client();
    let guess = |language| post(&client, language, "/sign-in", &[("email", ADA), ("password", "battery staple")]);
    for _ in 0..10 {
        assert_eq!(guess("de").status(), 422);
    }
    for (language, said) in [("de", "Das wurde zu oft versucht."), ("fr", "Trop souvent."), ("en", "done too often.")] {
        let refused = guess(language);
        assert!(refused.status() == 429 && refused.text().contains(said), "{language}: {}", refused.text());
    }
}

#[test]
fn the_owner_of_an_account_gets_mail_in_their_language() {
    let (world, _) = world().and_ada();
    // A new device of somebody whose account names no language: that of the request counts.
    post(&world.client(), "de", "/sign-in", &[("email", ADA), ("password", PASSWORD)]);
    let mails = world.client().mails();
    let mail = &mails[1];
    assert_eq!((mails.len(), &*mail.subject), (2, "Neue Anmeldung"));
    assert!(mail.text.contains("Browser: unbekanntes Gerät\n"), "{}", mail.text);
    // The account's own language comes first.
    world.site.db().write(|db| db.execute(skep::sql::query("update user set email = 'ada@example.de'", ()))).unwrap();
    post(&world.client(), "en", "/sign-in", &[("email", "ada@example.de"), ("password", PASSWORD)]);
    let mails = world.client().mails();
    assert_eq!((mails.len(), &*mails[2].subject, &*mails[2].to), (3, "Neue Anmeldung", "ada@example.de"));
}
