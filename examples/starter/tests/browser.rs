//! The notes in Chromium. Pictures are left in `target/screenshots`.

use skep::prelude::*;
use skep::test::Browser;
use skep_server::Server;

use starter::app;
use starter::note::Notes;

#[test]
#[ignore = "needs Chromium: cargo test --test browser -- --ignored"]
fn a_note_is_written_and_deleted() {
    let server = Server::for_test(app).start().unwrap();
    let browser = Browser::open(server.url());
    browser.visit(&Notes { at: None }.url());
    browser.click("New note");
    browser.fill_in("Title", "Honey");
    browser.fill_in("Text", "3 <jars>");
    browser.click("Save");
    browser.wait_for_text("Saved.");
    assert_eq!(browser.text(".text"), "3 <jars>");
    browser.screenshot("note");
    browser.click("Delete");
    browser.wait_for_text("There are no notes yet.");
}
