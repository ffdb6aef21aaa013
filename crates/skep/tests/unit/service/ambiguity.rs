//! Unit tests of `service::ambiguity`.

use super::*;
use crate::contract::service::QueryParameter;

const fn route(pattern: &'static str, query: &'static [QueryParameter]) -> Route {
    Route { pattern, query, ..Route::NONE }
}

const fn parameter(name: &'static str, required: bool) -> QueryParameter {
    QueryParameter { name, required }
}

#[test]
fn what_every_request_would_confuse_is_one() {
    let same = |one: &str, other: &str| {
        let leak = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        is_same_path(&route(leak(one), &[]), &route(leak(other), &[]))
    };
    assert!(same("/", "/") && same("/{a}/x", "/{bcd}/x") && same("/{*a}", "/{*rest}"));
    assert!(!same("/{a}", "/{*a}") && !same("/{a}/x", "/{a}") && !same("/a", "/{a}") && !same("/{a}/{b}", "/{a}/b"));
    let below = Route { prefix: "/shop", ..route("/x/{id}", &[]) };
    assert!(are_one(&below, &route("/shop/x/{number}", &[])));
    let post = Route { method: Method::POST, ..route("/", &[]) };
    assert!(!are_one(&post, &route("/", &[])));
}

#[test]
fn what_a_query_can_tell_apart_is_not() {
    static ONE: [QueryParameter; 2] = [parameter("a", true), parameter("b", false)];
    static SAME: [QueryParameter; 2] = [parameter("c", false), parameter("a", true)];
    static MORE: [QueryParameter; 2] = [parameter("a", true), parameter("b", true)];
    let one = route("/", &ONE);
    assert!(are_one(&one, &route("/", &SAME)));
    assert!(!are_one(&one, &route("/", &MORE)) && !are_one(&one, &route("/", &[])));
    let when = |value| Route { when: Some(("action", value)), ..route("/", &ONE) };
    assert!(are_one(&when("delete"), &when("delete")));
    assert!(!are_one(&when("delete"), &when("keep")) && !are_one(&when("delete"), &one));
}

#[test]
fn the_message_names_both() {
    let named = |service| Route { service, ..route("/{page}", &[]) };
    let message = complaint(&named("Article"), &named("Page"));
    assert!(
        message.text().starts_with("Article and Page cannot be distinguished: both answer at /{page}, and no request")
    );
    assert!(message.text().ends_with("of its own"));
    let long: &'static str = Box::leak("é".repeat(400).into_boxed_str());
    assert!(!complaint(&named(long), &named("Page")).text().is_empty());
}
