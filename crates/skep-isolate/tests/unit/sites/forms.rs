//! The forms: every kind of field, a file, rows, and a form that is accepted once.

use super::guest::component;
use super::same;
use super::site::{Said, Site};

fn both() -> (Site, Site) {
    (Site::native(forms::app()), Site::baseline(&component("forms")))
}

/// The sealed token that a page has for its form.
fn token(page: &str) -> String {
    let token = page.split("name=\"skep-once\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
    token.unwrap_or_else(|| panic!("no token in {page}")).to_owned()
}

/// As [`same`], but for the token, which is drawn.
fn same_but_for_the_token(native: Said, component: Said, what: &str) {
    let without = |said: Said| {
        let text = said.text();
        Said { body: text.replace(&token(&text), "...").into(), ..said }
    };
    same(&without(native), &without(component), what);
}

const BOUNDARY: &str = "----bees";

fn multipart(fields: &[(&str, &str)], picture: &[u8]) -> Vec<u8> {
    let mut body = String::new();
    for (name, value) in fields {
        let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        body.extend([head.as_str(), value, "\r\n"]);
    }
    let head = "Content-Disposition: form-data; name=\"picture\"; filename=\"bee.png\"\r\nContent-Type: image/png";
    body.extend(["--", BOUNDARY, "\r\n", head, "\r\n\r\n"]);
    [body.as_bytes(), picture, format!("\r\n--{BOUNDARY}--\r\n").as_bytes()].concat()
}

/// What a picture begins with.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

const GOOD: [(&str, &str); 11] = [
    ("edition", "2026"),
    ("name", "  Ann Bee "),
    ("email", "ann@example.org"),
    ("password", "correct horse"),
    ("about", "One\r\nTwo"),
    ("hives", "3"),
    ("fee", "12.5"),
    ("day", "2026-11-21"),
    ("level", "keeper"),
    ("lunch", "soup"),
    ("tools", "veil"),
];

#[test]
fn every_field_and_every_message_is_the_same() {
    let (native, component) = both();
    for path in ["/", "/order/1", "/nowhere"] {
        same(&native.get(path), &component.get(path), path);
    }
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    let post = |site: &Site, body: &[u8]| site.ask("POST", "/", body, &[("content-type", &kind)]);
    let mut wrong = GOOD;
    for (name, value) in
        [("name", "A"), ("email", "ann"), ("hives", "51"), ("fee", "1.234"), ("day", "2026-02-30"), ("level", "bee")]
    {
        wrong.iter_mut().find(|(known, _)| *known == name).unwrap().1 = value;
    }
    let bodies = [
        multipart(&GOOD, PNG),
        multipart(&wrong, PNG),
        multipart(&GOOD[..3], PNG),
        multipart(&GOOD, b"no picture"),
        multipart(&GOOD, &vec![0; 100_001]),
        multipart(&GOOD, PNG)[..200].to_owned(),
    ];
    for (number, body) in bodies.iter().enumerate() {
        same(&post(&native, body), &post(&component, body), &format!("form {number}"));
        same(&native.get("/"), &component.get("/"), "what the page then says");
    }
    assert_eq!(post(&component, &bodies[0]).status, 303);
    let said = component.get("/").text();
    assert!(said.contains("This is what arrived") && said.contains("Text(\"Ann Bee\")"), "{said}");
    assert_eq!(post(&component, &bodies[1]).status, 422);
}

#[test]
fn an_order_is_accepted_once_by_whatever_instance() {
    let (native, component) = both();
    same_but_for_the_token(native.get("/order"), component.get("/order"), "the page");
    let lines = "&name=Ann&lines.0.product=Honey&lines.0.amount=3&lines.1.product=&lines.1.amount=";
    let order = |site: &Site, token: &str, rest: &str| site.post("/order", &format!("skep-once={token}{rest}"));
    let tokens = [&native, &component].map(|site| token(&site.get("/order").text()).replace('+', "%2B"));
    for round in 0..3 {
        let (here, there) = (order(&native, &tokens[0], lines), order(&component, &tokens[1], lines));
        same(&here, &there, &format!("the same form, round {round}"));
        assert!(there.fields.iter().any(|(name, value)| name == "location" && value == "/order/1"), "{there:?}");
        same(&native.get("/order/1"), &component.get("/order/1"), "thanks");
    }
    let other = lines.replace("Honey", "Wax");
    same_but_for_the_token(
        order(&native, &tokens[0], &other),
        order(&component, &tokens[1], &other),
        "another order by the same token",
    );
    same_but_for_the_token(order(&native, "forged", lines), order(&component, "forged", lines), "a token of nobody's");
    let empty = "&name=Ann";
    let tokens = [&native, &component].map(|site| token(&site.get("/order").text()).replace('+', "%2B"));
    same_but_for_the_token(order(&native, &tokens[0], empty), order(&component, &tokens[1], empty), "nothing in it");
    same(&order(&native, &tokens[0], lines), &order(&component, &tokens[1], lines), "corrected, by the same token");
    same(&native.get("/order/2"), &component.get("/order/2"), "the second order");
    assert_eq!(component.get("/order/3").status, 404);
}
