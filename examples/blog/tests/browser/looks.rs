//! How pages look, and what a browser may say of them. Pictures are left in `target/screenshots`.
#![allow(dead_code, reason = "tests of several examples use it, none of them all of it")]

use std::path::Path;

use serde_json::{Value, json};
use skep::test::Browser;

/// Sets width and colours, and leaves a picture of a page that fits into the window.
pub(crate) fn picture(browser: &Browser, name: &str, width: u32, dark: bool) {
    browser.prefer_dark(dark);
    browser.resize(width, 900);
    let fits = browser.evaluate("document.documentElement.scrollWidth <= innerWidth");
    assert_eq!(fits, json!(true), "{name} scrolls sideways");
    browser.screenshot(name);
}

/// What axe finds wrong with the page, as it is shown now: nothing, if it is `[]`.
pub(crate) fn axe(browser: &Browser) -> Value {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../tools/axe-core/node_modules/axe-core/axe.min.js");
    let axe = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{}: {error}: run `cargo xtask setup`", file.display()));
    browser.evaluate(&format!("{axe}; 0"));
    let mut result = browser.evaluate("axe.run()");
    assert!(result["passes"].as_array().is_some_and(|rules| rules.len() > 10), "axe has not run: {result}");
    result["violations"].take()
}

/// Nothing is wrong with the pages but responses with this status.
pub(crate) fn assert_only(browser: &Browser, status: &str) {
    let problems = browser.take_problems();
    assert!(!problems.is_empty() && problems.iter().all(|problem| problem.contains(status)), "{problems:?}");
}
