//! The studio in real browsers. Pictures of each page, in two widths, light and dark, are left in `target/screenshots`.

#[path = "../../blog/tests/browser/driver.rs"]
mod driver;

use std::process::Command;

use courses::demo::PASSWORD;
use driver::{Browser, Process};
use serde_json::json;
use tempfile::TempDir;

/// A server with the demo, and where it listens.
fn studio() -> (Process, String, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_courses"));
    command.args(["--listen", "127.0.0.1:0", "--set", "courses.demo=true", "--set", "log.access=false", "--data"]);
    let (server, url) = Process::start(command.arg(folder.path()), |line| {
        line.find("http://").and_then(|at| line[at..].split_whitespace().next()).map(ToOwned::to_owned)
    });
    (server, url, folder)
}

fn sign_in(url: &str, email: &str) -> Browser {
    let browser = Browser::open();
    browser.go(&format!("{url}/sign-in"));
    browser.type_into("input[type=email]", email);
    browser.type_into("input[type=password]", PASSWORD);
    browser.click("main button");
    browser.wait_for("location.pathname === '/' && document.readyState === 'complete'");
    browser
}

#[test]
fn every_page_is_fine_for_axe_in_two_widths_light_and_dark() {
    let (_server, url, folder) = studio();
    let browser = sign_in(&url, "ada@example.org");
    let picture = folder.path().join("clay.png");
    let clay = image::RgbImage::from_fn(900, 600, |x, y| image::Rgb([150 + (x / 12) as u8, 90 + (y / 12) as u8, 70]));
    clay.save(&picture).unwrap();
    browser.go(&format!("{url}/courses/2/edit"));
    browser.type_into("input[type=file]", picture.to_str().unwrap());
    browser.click("form[enctype] button");
    browser.wait_for("document.querySelector('.picture')?.naturalWidth === 900");
    browser.click("main form button");
    browser.wait_for("!!document.querySelector('.notice')");
    for (name, path) in [
        ("week", "/"),
        ("list", "/courses"),
        ("course", "/courses/2"),
        ("edit", "/courses/2/edit"),
        ("new", "/courses/new"),
        ("participants", "/courses/2/participants"),
        ("bookings", "/bookings"),
        ("plan", "/plan"),
        ("profile", "/profile"),
        ("accounts", "/accounts"),
        ("sign-in", "/sign-in"),
        ("sign-up", "/sign-up"),
    ] {
        browser.go(&format!("{url}{path}"));
        if name == "plan" {
            browser.wait_for("!!document.querySelector('#plan li')");
        }
        for (width, dark) in [(390, false), (390, true), (1280, false), (1280, true)] {
            let scheme = if dark { "dark" } else { "light" };
            browser.picture(&format!("courses-{name}-{width}-{scheme}"), width, dark);
            assert_eq!(browser.axe(), json!([]), "{path}, {width}, {scheme}");
        }
        browser.assert_quiet();
    }
    browser.go(&format!("{url}/-/jobs"));
    assert_eq!(browser.axe(), json!([]), "the page of skep-jobs");
}

#[test]
fn a_page_that_is_open_follows_what_another_books_on_the_one_page_client() {
    let (_server, url, _folder) = studio();
    let [mia, max] = ["mia@example.org", "max@example.org"].map(|email| sign_in(&url, email));
    max.go(&format!("{url}/courses/2"));
    assert_eq!(max.text(".places"), "6 Plätze frei");
    mia.go(&format!("{url}/plan"));
    mia.wait_for("!!document.querySelector('[data-course=\"2\"]')");
    mia.click("[data-course=\"2\"]");
    mia.wait_for("document.querySelector('[data-course=\"2\"]').previousSibling.innerText === 'Booked'");
    assert_eq!(mia.eval("document.activeElement.dataset.course"), json!("2"), "the button keeps the focus");
    max.wait_for("document.querySelector('.places').innerText === '5 Plätze frei'");
    mia.click("[data-course=\"2\"]");
    max.wait_for("document.querySelector('.places').innerText === '6 Plätze frei'");
    mia.assert_quiet();
    max.assert_quiet();
}
