//! The forms in a real browser: what it checks, what it sends, and what it shows of what the server says.

#[path = "../../blog/tests/browser/looks.rs"]
mod looks;

use looks::{assert_only, picture};
use serde_json::{Value, json};
use skep::form::{
    Control, Date, DateTime, Decimal, Email, FieldError, FormField, MultilineText, Text, Time, Url, Whole,
};
use skep::test::Browser;
use skep_server::{Running, Server};

fn open(path: &str) -> (Running, Browser) {
    let server = Server::for_test(forms::app).start().unwrap();
    let browser = Browser::open(server.url());
    browser.visit(path);
    (server, browser)
}

/// Sets a value as a script does, which a date needs: what keys mean in it depends on the language.
fn set(browser: &Browser, id: &str, value: &str) {
    browser.evaluate(&format!("document.querySelector('#register-{id}').value = {}", json!(value)));
}

fn fill_in(browser: &Browser) {
    browser.fill_in("#register-name", "  Ann Bee ");
    browser.fill_in("#register-email", "ann@example.org");
    browser.fill_in("#register-password", "correct horse");
    browser.fill_in("#register-site", "https://example.org/ä");
    browser.fill_in("#register-about", "One\nTwo");
    browser.fill_in("#register-hives", "3");
    browser.fill_in("#register-fee", "12.5");
    browser.fill_in("#register-height", "-0.25");
    set(browser, "day", "2026-11-21");
    set(browser, "call", "18:30");
    set(browser, "visit", "2026-12-01T09:05");
    set(browser, "trainer", "3");
    set(browser, "level", "keeper");
    browser.click("#register-lunch-soup");
    browser.click("#register-tools-veil");
    browser.click("#register-tools-smoker");
    browser.click("#register-news");
}

#[test]
fn what_a_browser_sends_of_every_control_arrives_as_its_value() {
    let (_server, browser) = open("/");
    let folder = tempfile::tempdir().unwrap();
    let bee = folder.path().join("bee \"1\".png");
    std::fs::write(&bee, b"\x89PNG\r\n\x1a\nnot a whole").unwrap();
    fill_in(&browser);
    browser.fill_in("#register-picture", bee.to_str().unwrap());
    picture(&browser, "forms", 800, false);
    browser.click("main button");
    browser.wait_until("!!document.querySelector('.done')");
    let arrived = browser.text(".done");
    for part in [
        "edition: Hidden(2026)",
        "name: Text(\"Ann Bee\")",
        "email: Email(\"ann@example.org\")",
        "password: Password(..)",
        "site: Some(Url(\"https://example.org/ä\"))",
        "about: Some(MultilineText(\"One\\nTwo\"))",
        "hives: Whole(3)",
        "fee: Decimal(1250)",
        "height: Some(-0.25)",
        "2026, month: 11, day: 21",
        "hour: 18, minute: 30",
        "hour: 9, minute: 5",
        "trainer: Some(3)",
        "level: Keeper, lunch: Soup, tools: {Smoker, Veil}",
        "picture: Some(Upload(\"bee \\\"1\\\".png\", 19 bytes))",
        "news: true",
    ] {
        assert!(arrived.contains(part), "{part}: {arrived}");
    }
}

#[test]
fn what_the_server_refuses_stands_beside_the_fields_with_the_cursor_in_the_first() {
    let (_server, browser) = open("/");
    fill_in(&browser);
    browser.evaluate("document.querySelector('main form').noValidate = true");
    for (id, value) in [("email", "ann"), ("hives", "51"), ("site", "ftp://example.org"), ("day", "")] {
        set(&browser, id, value);
    }
    browser.evaluate("document.querySelector('#register-level').value = ''");
    browser.click("main button");
    browser.wait_until("!!document.querySelector('.problem')");
    assert_eq!(browser.evaluate("document.activeElement.id"), json!("register-email"), "the first that is wrong");
    let wrong = "[...document.querySelectorAll('[aria-invalid]')].map(e => e.id.replace('register-', ''))";
    assert_eq!(browser.evaluate(wrong), json!(["email", "site", "hives", "day", "level"]));
    let described = "[...document.querySelectorAll('[aria-invalid]')].every(e => \
        document.getElementById(e.getAttribute('aria-describedby')).className === 'problem')";
    assert_eq!(browser.evaluate(described), json!(true));
    let kept = "['name', 'email', 'about', 'fee', 'call', 'visit', 'password', 'picture'].map(id => \
        document.getElementById('register-' + id).value)";
    let expected = ["  Ann Bee ", "ann", "One\nTwo", "12.5", "18:30", "2026-12-01T09:05", "", ""];
    assert_eq!(browser.evaluate(kept), json!(expected), "not the password, not the file");
    let ticked = "[...document.querySelectorAll('input:checked')].map(e => e.id.replace('register-', ''))";
    assert_eq!(browser.evaluate(ticked), json!(["lunch-soup", "tools-smoker", "tools-veil", "news"]));
    picture(&browser, "forms-problems", 800, false);
    picture(&browser, "forms-problems-phone-dark", 390, true);
    assert_only(&browser, "422");
}

/// What the browser thinks of a value in the control of this field, and the value as it would send it.
fn judged(browser: &Browser, id: &str, value: &str) -> (bool, String) {
    let script = format!(
        "(() => {{ const e = document.querySelector('#register-{id}'); e.value = {}; return [e.checkValidity(), e.value] }})()",
        json!(value)
    );
    let Value::Array(both) = browser.evaluate(&script) else { panic!("no answer for {id}") };
    (both[0].as_bool().unwrap(), both[1].as_str().unwrap().to_owned())
}

/// Browser and server come to the same end. `lenient` are values that only the server refuses: each with a reason.
fn agree<T: Control>(browser: &Browser, id: &str, values: &[&str], lenient: &[&str]) {
    let optional = !T::shape().required
        || browser.evaluate(&format!("document.querySelector('#register-{id}').required")) == json!(false);
    for value in values {
        let (valid, sent) = judged(browser, id, value);
        let read = T::check(&sent);
        let accepted = read.is_ok() || optional && sent.is_empty() && matches!(read, Err(FieldError::Missing));
        let expected = valid && !lenient.contains(value);
        assert_eq!(accepted, expected, "{id}: {value:?} is sent as {sent:?}, and read as {:?}", read.err());
    }
}

#[test]
fn browser_and_server_judge_alike() {
    let (_server, browser) = open("/");
    // Spaces alone are trimmed away by the server, which then has nothing. A length is only checked while somebody
    // types.
    agree::<Text<2, 40>>(&browser, "name", &["", "A", "Ann", "  ", "é😀"], &["A", "  "]);
    let emails = [
        "",
        "a@b",
        "a@b.c",
        "a b@c",
        "@b",
        "a@",
        "a@b..c",
        "a@-b",
        "a@b-",
        "a.@b",
        ".a@b",
        "\"a\"@b",
        "a@b@c",
        "ä@b.c",
        " a@b ",
        "a'+/=?^_`{|}~-!#$%&*@x.y",
        "a@b_c",
        "a@1.2.3.4",
        "a@[::1]",
    ];
    agree::<Email>(&browser, "email", &emails, &[]);
    let urls = [
        "",
        "https://example.org",
        "http://a",
        "HTTPS://A.B",
        "ftp://a.b",
        "javascript:alert(1)",
        "example.org",
        "//a.b",
        "/a",
        "https://",
        "https:a",
        " https://a.b ",
        "http://a b",
        "https://ä.example/ö?ü#ß",
        "mailto:a@b",
        "https:///x",
        "http://:80",
        "http://?x",
        "http://a\"b",
        "http://a|b",
        "http://a.b/{c}",
        "http://a.b/\\c",
    ];
    agree::<Url>(&browser, "site", &urls, &[]);
    texts_aside(&browser);
}

/// Numbers, dates and times.
fn texts_aside(browser: &Browser) {
    let wholes = ["", "1", "50", "0", "51", "-1", "1.0", "1.5", "1e1", "01", "+1", " 7 ", "x", "--1", "1e400"];
    agree::<Whole<1, 50>>(browser, "hives", &wholes, &[]);
    let decimals =
        ["", "0", "12.5", "12.50", "0.01", "0.001", "500", "500.01", "-0.01", "1e2", ".5", "5.", "1,5", "007"];
    agree::<Decimal<2, 0, 50_000>>(browser, "fee", &decimals, &[]);
    let numbers = ["", "0", "-0", "1e5", "1e-7", ".5", "-.5", "NaN", "Infinity", "1e999", "0x10", "1_0"];
    agree::<f64>(browser, "height", &numbers, &[]);
    let days = [
        "",
        "2026-11-21",
        "2026-02-29",
        "2024-02-29",
        "0001-01-01",
        "0000-01-01",
        "9999-12-31",
        "12026-01-01",
        "21.11.2026",
        "2026-1-1",
    ];
    agree::<Date>(browser, "day", &days, &[]);
    let times = ["", "00:00", "23:59", "24:00", "18:30:15", "18:30:15.5", "18:30:60", "6:30", "18:30:15.1234"];
    agree::<Time>(browser, "call", &times, &[]);
    let moments = [
        "",
        "2026-11-21T18:30",
        "2026-11-21 18:30",
        "2026-11-21T18:30:15",
        "2026-02-30T18:30",
        "2026-11-21T18:30Z",
        "x",
    ];
    agree::<DateTime>(browser, "visit", &moments, &[]);
    agree::<MultilineText<1, 300>>(browser, "about", &["", "x", "a\r\nb", "\u{e9}\u{1f600}"], &[]);
}

#[test]
fn a_browser_stops_where_the_type_does() {
    let (_server, browser) = open("/");
    browser.fill_in("#register-name", &"é".repeat(50));
    let typed = browser.evaluate("document.querySelector('#register-name').value");
    assert_eq!(typed, json!("é".repeat(40)));
    assert_eq!(<Text<2, 40> as FormField>::shape().max_length, Some(40));
    // Forty lines of two characters count one for each end of a line, here as there.
    browser.fill_in("#register-about", &"a\n".repeat(160));
    let typed = browser.evaluate("document.querySelector('#register-about').value");
    let typed = typed.as_str().unwrap();
    assert_eq!(typed.len(), 300);
    assert!(MultilineText::<1, 300>::check(typed).is_ok());
    browser.click("main button");
    assert_eq!(
        browser.evaluate("document.querySelector('main form').checkValidity()"),
        json!(false),
        "it is not even sent"
    );
    assert_eq!(browser.evaluate("document.activeElement.id"), json!("register-email"));
}

#[test]
fn an_order_is_accepted_once_however_often_it_is_sent() {
    let (_server, browser) = open("/order");
    browser.fill_in("#order-name", "Ann");
    browser.fill_in("#order-lines-1-product", "Wax");
    browser.click("main button");
    browser.wait_until("!!document.querySelector('.problem')");
    assert_eq!(browser.evaluate("document.activeElement.id"), json!("order-lines-0-amount"), "the empty line is gone");
    assert_eq!(browser.evaluate("document.querySelector('#order-lines-0-product').value"), json!("Wax"));
    picture(&browser, "forms-order", 800, false);
    browser.fill_in("#order-lines-0-amount", "2");
    browser.fill_in("#order-lines-2-product", "Honey");
    browser.fill_in("#order-lines-2-amount", "12");
    // The same twice, as fast as it goes, and a third time from the page before.
    browser
        .evaluate("(() => { const f = document.querySelector('main form'); f.requestSubmit(); f.requestSubmit() })()");
    browser.wait_until("!!document.querySelector('#number')");
    assert_eq!(browser.text("#number"), "1");
    browser.evaluate("history.back()");
    browser.wait_until("!!document.querySelector('main form')");
    browser.evaluate(
        "fetch(document.querySelector('main form').action).then(r => document.title = new URL(r.url).pathname)",
    );
    browser.wait_until("document.title === '/order'");
    browser.visit(&browser.path());
    browser.fill_in("#order-name", "Bo");
    browser.fill_in("#order-lines-0-product", "Wax");
    browser.fill_in("#order-lines-0-amount", "1");
    browser.click("main button");
    browser.wait_until("document.querySelector('#number')?.innerText === '2'");
    assert_eq!(browser.text(".done"), "Bo: 1 Wax");
    assert_only(&browser, "422");
}
