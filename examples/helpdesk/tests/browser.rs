//! The help-desk in real browsers: passkeys, with an authenticator of Chromium's own, and two people at once. Pictures
//! are left in `target/screenshots`.

#[path = "support/component.rs"]
mod component;
#[path = "../../blog/tests/browser/looks.rs"]
mod looks;
#[path = "browser/two_people.rs"]
mod two_people;

use std::net::TcpListener;

use looks::{assert_only, picture};
use serde_json::{Value, json};
use skep::test::Browser;
use skep_server::{Running, Server};

const ADA: &str = "ada@example.org";
const CARLA: &str = "carla@example.org";

/// Notes what a page asks authenticators for, and what becomes of it.
const REQUESTS: &str = "
    const get = window.CredentialsContainer?.prototype.get;
    window.requests = [];
    if (get) CredentialsContainer.prototype.get = function (options) {
        const request = [options.mediation ?? 'button', 'pending'], asked = get.call(this, options);
        window.requests.push(request);
        asked.then(() => request[1] = 'done', error => request[1] = error.name);
        return asked;
    };";

/// A browser at a server, with an authenticator inside of it that needs no finger.
struct World {
    browser: Browser,
    authenticator: String,
    _server: Running,
}

impl World {
    fn new() -> Self {
        // The address is in the base URL, so it is chosen before the server starts. A host of numbers can have no
        // passkeys.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let url = format!("http://localhost:{port}");
        let server = Server::for_test(helpdesk::app).fix("listen", format!("127.0.0.1:{port}")).fix("base_url", &url);
        let server = server.start().unwrap();
        let browser = Browser::open(&url);
        browser.command("WebAuthn.enable", &json!({}));
        let options = json!({
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": true, "hasUserVerification": true,
            "isUserVerified": true, "automaticPresenceSimulation": true,
        });
        let added = browser.command("WebAuthn.addVirtualAuthenticator", &json!({ "options": options }));
        let authenticator = added["authenticatorId"].as_str().unwrap().to_owned();
        browser.command("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": REQUESTS }));
        Self { browser, authenticator, _server: server }
    }

    fn go(&self, path: &str) {
        self.browser.visit(path);
    }

    fn at(&self, path: &str) {
        self.browser.wait_until(&format!("location.pathname === {path:?} && document.readyState === 'complete'"));
    }

    fn sign_in_with_password(&self) {
        self.sign_in_as(CARLA);
    }

    fn sign_in_as(&self, email: &str) {
        self.go("/sign-in");
        self.browser.fill_in("input[type=email]", email);
        self.browser.fill_in("input[type=password]", helpdesk::demo::PASSWORD);
        self.browser.click("main form:not([data-passkey]) button");
        self.at("/tickets");
    }

    /// By the button.
    fn sign_in_with_passkey(&self) {
        self.touches(false);
        self.go("/sign-in");
        self.press();
    }

    /// Presses the button for passkeys, while the browser offers them, too.
    fn press(&self) {
        self.has_asked(&json!([["conditional", "pending"]]));
        self.touches(true);
        self.browser.click("form[data-passkey] button");
    }

    /// Whether the user answers the authenticator at once, or never: what is offered is not taken, then.
    fn touches(&self, at_once: bool) {
        let parameters = json!({ "authenticatorId": self.authenticator, "enabled": at_once });
        self.browser.command("WebAuthn.setAutomaticPresenceSimulation", &parameters);
    }

    /// Waits until the page has asked for this.
    fn has_asked(&self, requests: &Value) {
        self.browser.wait_until(&format!("JSON.stringify(window.requests) === {:?}", requests.to_string()));
    }

    fn sign_out(&self) {
        self.touches(false);
        self.browser.click(".account button");
        self.at("/sign-in");
    }

    fn add(&self, name: &str) {
        self.touches(true);
        self.go("/profile");
        self.browser.fill_in("form[data-passkey] input[name=name]", name);
        self.browser.click("form[data-passkey] button");
    }

    fn credential(&self) -> Value {
        let all = self.browser.command("WebAuthn.getCredentials", &json!({ "authenticatorId": self.authenticator }));
        assert_eq!(all["credentials"].as_array().map(Vec::len), Some(1), "{all}");
        all["credentials"][0].clone()
    }

    fn clear(&self) {
        self.browser.command("WebAuthn.clearCredentials", &json!({ "authenticatorId": self.authenticator }));
    }

    fn put(&self, credential: &Value) {
        let parameters = json!({ "authenticatorId": self.authenticator, "credential": credential });
        self.browser.command("WebAuthn.addCredential", &parameters);
    }
}

#[test]
fn a_passkey_is_added_signs_in_and_a_copy_of_it_is_found_out() {
    let world = World::new();
    let browser = &world.browser;
    world.sign_in_with_password();
    world.add("My laptop");
    browser.wait_until("document.querySelector('.notice')?.innerText === 'You can sign in with this passkey now.'");
    assert_eq!(browser.evaluate("document.querySelector('.rename input[name=new_name]').value"), json!("My laptop"));
    for (name, width, dark) in [("light", 1100, false), ("dark", 1100, true), ("phone", 390, false)] {
        picture(browser, &format!("helpdesk-passkeys-{name}"), width, dark);
    }
    let mut copy = world.credential();

    world.sign_out();
    picture(browser, "helpdesk-sign-in", 1100, false);
    world.sign_in_with_passkey();
    world.at("/tickets");
    assert_eq!(browser.text(".account a"), "Carla Customer");

    // Who signs in to see a page comes to it.
    world.sign_out();
    world.go("/tickets/new");
    world.press();
    world.at("/tickets/new");
    let genuine = world.credential();

    // A thief has the key as it was before, so its counter lags behind.
    world.sign_out();
    world.clear();
    copy["signCount"] = json!(0);
    world.put(&copy);
    world.sign_in_with_passkey();
    world.at("/sign-in/passkey");
    assert!(browser.text("main").contains("This passkey was not accepted."), "{}", browser.text("main"));
    assert_only(browser, "403");
    world.touches(false);
    world.go("/profile");
    world.at("/sign-in");

    world.clear();
    world.put(&genuine);
    world.sign_in_with_passkey();
    world.at("/tickets");
}

#[test]
fn a_passkey_is_offered_while_a_name_is_typed_and_the_button_still_works() {
    let world = World::new();
    let browser = &world.browser;
    world.sign_in_with_password();
    world.add("My laptop");
    browser.wait_until("!!document.querySelector('.rename')");

    // Nobody takes the offer: it waits, and nothing is in the way of a password or of the button.
    world.sign_out();
    world.has_asked(&json!([["conditional", "pending"]]));
    browser.fill_in("input[type=email]", CARLA);
    browser.click("form[data-passkey] button");
    world.has_asked(&json!([["conditional", "AbortError"], ["button", "pending"]]));
    assert_eq!(browser.evaluate("document.querySelectorAll('.problem').length"), json!(0));
    world.sign_in_with_password();

    // Taken, it signs in, and leads to where the user wanted to go.
    world.sign_out();
    // The page that the user leaves would take it.
    browser.visit("about:blank");
    world.touches(true);
    world.go("/tickets/new");
    world.at("/tickets/new");
    assert_eq!(browser.text(".account a"), "Carla Customer");
}

/// A table that is wider than the window scrolls in a box of its own (WCAG 2.2, 1.4.10), which keys reach.
#[test]
fn the_audit_trail_fits_into_a_small_window() {
    let world = World::new();
    let browser = &world.browser;
    world.sign_in_as(ADA);
    world.go("/audit");
    browser.evaluate("document.querySelector('table code').append('x'.repeat(60))");
    for (width, dark) in [(1100, false), (400, true), (320, false)] {
        picture(browser, &format!("helpdesk-audit-{width}"), width, dark);
        assert_eq!(browser.evaluate("innerWidth"), json!(width), "the window is not made wider");
    }
    let boxed = "document.querySelector('[role=region][aria-label][tabindex=\"0\"]')";
    assert_eq!(
        browser.evaluate(&format!("{boxed}.scrollWidth > {boxed}.clientWidth")),
        json!(true),
        "there is more to see"
    );
    browser.evaluate(&format!("{boxed}.focus()"));
    assert_eq!(browser.evaluate(&format!("document.activeElement === {boxed}")), json!(true));
}

#[test]
fn a_passkey_is_offered_again_after_the_button_failed() {
    let world = World::new();
    world.touches(false);
    world.go("/sign-in");
    world.has_asked(&json!([["conditional", "pending"]]));
    // It has no passkey for this site, so what is offered fails as well, and is not begun once more.
    world.touches(true);
    world.browser.click("form[data-passkey] button");
    let failed = "NotAllowedError";
    world.has_asked(&json!([["conditional", "AbortError"], ["button", failed], ["conditional", failed]]));
    assert_eq!(world.browser.evaluate("document.querySelectorAll('form[data-passkey] .problem').length"), json!(1));
}

#[test]
fn a_passkey_is_added_once_renamed_and_removed() {
    let world = World::new();
    let browser = &world.browser;
    world.sign_in_with_password();
    world.add("First");
    browser.wait_until("!!document.querySelector('.rename')");
    // The authenticator knows that it has one for this user.
    world.add("Again");
    browser.wait_until(
        "document.querySelector('form[data-passkey] .problem')?.innerText === 'This passkey has been added already.'",
    );
    picture(browser, "helpdesk-passkey-failed", 390, true);

    browser.evaluate("document.querySelector('.rename input[name=new_name]').value = ''");
    browser.fill_in(".rename input[name=new_name]", "Laptop");
    browser.click(".rename button");
    browser.wait_until("document.querySelector('.notice')?.innerText === 'Saved.'");
    assert_eq!(browser.evaluate("document.querySelector('.rename input[name=new_name]').value"), json!("Laptop"));

    browser.click("form[action$='/remove'] button");
    browser.wait_until("!document.querySelector('.rename')");
    world.sign_out();
    world.sign_in_with_passkey();
    world.at("/sign-in/passkey");
    assert!(browser.text("main").contains("This passkey was not accepted."), "{}", browser.text("main"));
    assert_only(browser, "403");
}

#[test]
fn nobody_who_is_not_verified_gets_in() {
    let world = World::new();
    let browser = &world.browser;
    world.sign_in_with_password();
    world.add("My laptop");
    browser.wait_until("!!document.querySelector('.rename')");
    world.sign_out();
    let verified = json!({ "authenticatorId": world.authenticator, "isUserVerified": false });
    browser.command("WebAuthn.setUserVerified", &verified);
    world.sign_in_with_passkey();
    browser.wait_until("!!document.querySelector('form[data-passkey] .problem')");
    world.go("/profile");
    world.at("/sign-in");
}
