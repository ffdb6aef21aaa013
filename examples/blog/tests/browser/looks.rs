//! How pages look, and what a browser may say of them. Pictures are left in `target/screenshots`.

use serde_json::json;
use skep::test::Browser;

/// Sets width and colours, and leaves a picture of a page that fits into the window.
pub(crate) fn picture(browser: &Browser, name: &str, width: u32, dark: bool) {
    browser.prefer_dark(dark);
    browser.resize(width, 900);
    let fits = browser.evaluate("document.documentElement.scrollWidth <= innerWidth");
    assert_eq!(fits, json!(true), "{name} scrolls sideways");
    browser.screenshot(name);
}

/// Nothing is wrong with the pages but responses with this status.
pub(crate) fn assert_only(browser: &Browser, status: &str) {
    let problems = browser.take_problems();
    assert!(!problems.is_empty() && problems.iter().all(|problem| problem.contains(status)), "{problems:?}");
}
