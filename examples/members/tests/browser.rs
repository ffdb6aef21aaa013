//! The notes in Chromium. Pictures are left in `target/screenshots`.

use skep::prelude::*;
use skep::test::{Browser, Client};
use skep_people::pages::SignUpPage;
use skep_server::Server;

use members::app;

#[test]
#[ignore = "needs Chromium: cargo test --test browser -- --ignored"]
fn somebody_signs_up_and_writes_a_note() {
    let server = Server::for_test(app).start().unwrap();
    let browser = Browser::open(server.url());
    browser.visit(&SignUpPage.url());
    browser.fill_in("E-mail", "ann@example.org");
    browser.click("Sign up");
    browser.wait_for_text("We have sent you a mail.");
    let mail = Client::of_site(server.site()).mails().pop().unwrap();
    let (_, link) = mail.text.split_once("you are in: ").unwrap();
    browser.visit(link);
    browser.fill_in("Password", "a straw basket");
    browser.click("Sign up");

    browser.click("New note");
    browser.fill_in("Title", "Honey");
    browser.fill_in("Text", "3 <jars>");
    browser.click("Save");
    browser.wait_for_text("Saved.");
    assert_eq!(browser.text(".text"), "3 <jars>");
    browser.screenshot("note");
    browser.click("Sign out");
    assert_eq!(browser.text("h1"), "Sign in");
}
