//! The blog in a real browser. Pictures of what a visitor sees are left in `target/screenshots`.

#[path = "browser/driver.rs"]
mod driver;

use driver::{Browser, Process};
use serde_json::{Value, json};

#[test]
fn a_visitor_reads_comments_and_searches() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, url) = Process::server(env!("CARGO_BIN_EXE_blog"), folder.path());
    let browser = Browser::open();

    browser.go(&url);
    assert_eq!(browser.text("h1"), "The Skep blog");
    browser.picture("list-light", 1100, false);
    browser.picture("list-dark", 1100, true);
    browser.picture("list-phone", 390, false);

    let title = browser.text(".teaser h2 a");
    browser.click(".teaser h2 a");
    browser.wait_for("location.pathname.startsWith('/writings/')");
    assert_eq!(browser.text("article h1"), title);
    browser.picture("article-light", 1100, false);
    browser.picture("article-phone-dark", 390, true);

    browser.type_into("#comment-author", "Ann");
    browser.type_into("#comment-text", "What a *fine* page.");
    browser.click("button[name=preview]");
    browser.wait_for("!!document.querySelector('.preview em')");
    assert_eq!(browser.text("#comments"), "No comments yet");
    browser.picture("preview", 1100, false);
    browser.click("form[method=post] button:not([name])");
    browser.wait_for("document.querySelector('#comments')?.innerText === 'One comment'");
    assert_eq!(browser.text(".comment em"), "fine");

    // The browser's own checks are put aside, to see what the server says.
    browser.eval("document.querySelector('form[method=post]').noValidate = true");
    browser.type_into("#comment-text", "No name.");
    browser.click("form[method=post] button:not([name])");
    browser.wait_for("!!document.querySelector('#comment-author-problem')");
    assert_eq!(
        browser.eval("document.activeElement.id"),
        json!("comment-author"),
        "the cursor is where something is to mend"
    );
    assert_eq!(browser.eval("document.querySelector('#comment-text').value"), json!("No name."));
    browser.picture("problem", 1100, false);

    browser.type_into("header input[type=search]", "escaping\u{e007}");
    browser.wait_for("location.pathname === '/search'");
    browser.wait_for("document.querySelectorAll('.teaser mark').length > 0");
    browser.picture("search", 1100, false);

    // A refused form is an error of the console by itself; everything else must be silent.
    let log = browser.post("se/log", &json!({ "type": "browser" }));
    let others: Vec<&Value> =
        log.as_array().unwrap().iter().filter(|entry| !entry.to_string().contains("422")).collect();
    assert!(others.is_empty(), "{others:?}");

    browser.go(&format!("{url}/nowhere"));
    assert_eq!(browser.text("h1"), "Not Found");
    browser.picture("not-found", 1100, false);
    browser.go(&format!("{url}/archive"));
    let expected = browser.post("se/log", &json!({ "type": "browser" }));
    assert!(expected.as_array().unwrap().iter().all(|entry| entry.to_string().contains("404")), "{expected}");
    browser.picture("archive", 1100, false);
    browser.assert_quiet();
}
