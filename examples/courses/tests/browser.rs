//! The studio in real browsers. Pictures of each page, in two widths, light and dark, are left in `target/screenshots`.

#[path = "../../blog/tests/browser/looks.rs"]
mod looks;

use courses::demo::PASSWORD;
use looks::{axe, picture};
use serde_json::json;
use skep::test::{Browser, Client};
use skep_server::{Running, Server};

/// A server with the demo.
fn studio() -> Running {
    Server::for_test(courses::app).fix("courses.demo", "true").start().unwrap()
}

fn sign_in(server: &Running, email: &str) -> Browser {
    let browser = Browser::open(server.url());
    browser.visit("/sign-in");
    browser.fill_in("input[type=email]", email);
    browser.fill_in("input[type=password]", PASSWORD);
    browser.click("main button");
    browser.wait_until("location.pathname === '/' && document.readyState === 'complete'");
    browser
}

#[test]
fn every_page_is_fine_for_axe_in_two_widths_light_and_dark() {
    let (server, folder) = (studio(), tempfile::tempdir().unwrap());
    let browser = sign_in(&server, "ada@example.org");
    let clay_file = folder.path().join("clay.png");
    let clay = image::RgbImage::from_fn(900, 600, |x, y| image::Rgb([150 + (x / 12) as u8, 90 + (y / 12) as u8, 70]));
    clay.save(&clay_file).unwrap();
    browser.visit("/courses/2/edit");
    browser.fill_in("input[type=file]", clay_file.to_str().unwrap());
    browser.click("form[enctype] button");
    browser.wait_until("document.querySelector('.picture')?.naturalWidth === 900");
    browser.click(".card form button");
    browser.wait_until("!!document.querySelector('.card .notice')");
    let client = Client::of_site(server.site());
    client.post("/forgotten-password", &[("email", "ada@example.org")]);
    let mail = client.mails().pop().unwrap();
    let (_, rest) = mail.text.split_once("/forgotten-password/").expect("a link");
    let token = rest.split_whitespace().next().expect("its token");
    let link = format!("/forgotten-password/{token}");
    let paths = "/ /courses /courses/2 /courses/2/edit /courses/new /courses/2/participants /bookings /plan /profile \
        /accounts /sign-in /sign-up /forgotten-password /change-password";
    for path in paths.split(' ').chain([link.as_str()]) {
        let name = if path == link { "-new-password" } else { &path.replace('/', "-") };
        browser.visit(path);
        if path == "/plan" {
            browser.wait_until("!!document.querySelector('#plan li')");
        }
        for (width, dark) in [(390, false), (390, true), (1280, false), (1280, true)] {
            let scheme = if dark { "dark" } else { "light" };
            picture(&browser, &format!("courses{name}-{width}-{scheme}"), width, dark);
            assert_eq!(axe(&browser), json!([]), "{path}, {width}, {scheme}");
        }
    }
    browser.visit("/-/jobs");
    assert_eq!(axe(&browser), json!([]), "the page of skep-jobs");
}

#[test]
fn a_page_that_is_open_follows_what_another_books_on_the_one_page_client() {
    let server = studio();
    let [mia, max] = ["mia@example.org", "max@example.org"].map(|email| sign_in(&server, email));
    max.visit("/courses/2");
    assert_eq!(max.text(".places"), "6 Plätze frei");
    mia.visit("/plan");
    mia.wait_until("!!document.querySelector('[data-course=\"2\"]')");
    mia.click("[data-course=\"2\"]");
    mia.wait_until("document.querySelector('[data-course=\"2\"]').previousSibling.innerText === 'Booked'");
    assert_eq!(mia.evaluate("document.activeElement.dataset.course"), json!("2"), "the button keeps the focus");
    max.wait_until("document.querySelector('.places').innerText === '5 Plätze frei'");
    mia.click("[data-course=\"2\"]");
    max.wait_until("document.querySelector('.places').innerText === '6 Plätze frei'");
}
