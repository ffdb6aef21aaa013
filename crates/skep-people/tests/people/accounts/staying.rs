//! Remember-me, and the list of sessions.

use std::time::Duration;

use skep::Method;

use super::*;

pub(crate) const REMEMBER: &str = "skep-remember";

pub(crate) fn remembered(world: &World) -> Client {
    let client = world.client();
    let answer = client.post("/sign-in", &[("email", ADA), ("password", PASSWORD), ("remember", "on")]);
    assert_eq!(answer.text(), "welcome");
    client
}

/// A request with a remember-me cookie and nothing else.
fn with(world: &World, cookie: &str) -> TestResponse {
    let client = world.client();
    client.request(Method::GET, "/profile").header("cookie", &format!("{REMEMBER}={cookie}")).send()
}

pub(crate) fn is_over(world: &World) {
    // Longer than a session lasts without use, shorter than a device is remembered.
    world.clock.advance(Duration::from_hours(20 * 24));
}

#[test]
fn a_remembered_browser_is_signed_in_again_without_a_fresh_proof() {
    let (world, _) = World::with_ada();
    let (client, other) = (remembered(&world), world.client());
    sign_in(&other, PASSWORD);
    is_over(&world);
    assert_eq!(other.get("/profile").status(), 401);
    let before = client.cookie(REMEMBER).unwrap();
    assert_eq!(client.get("/profile").text(), ADA);
    assert_ne!(client.cookie(REMEMBER).unwrap(), before, "each use replaces the token");
    assert_eq!(client.get("/delete").status(), 401, "it is the device, and perhaps not the user");
    is_over(&world);
    assert_eq!(client.get("/profile").text(), ADA);
    world.clock.advance(Duration::from_hours(61 * 24));
    assert_eq!(client.get("/profile").status(), 401);
}

#[test]
fn requests_that_were_sent_together_may_bring_the_same_token() {
    let (world, _) = World::with_ada();
    let client = remembered(&world);
    let token = client.cookie(REMEMBER).unwrap();
    is_over(&world);
    for _ in 0..3 {
        assert_eq!(with(&world, &token).text(), ADA);
    }
}

#[test]
fn a_copied_token_ends_every_session_of_its_user() {
    let (world, ada) = World::with_ada();
    let client = remembered(&world);
    let copied = client.cookie(REMEMBER).unwrap();
    is_over(&world);
    sign_in(&ada, PASSWORD);
    assert_eq!(with(&world, &copied).text(), ADA, "the thief is first");
    world.clock.advance(Duration::from_mins(2));
    assert_eq!(client.get("/profile").status(), 401, "the owner comes after");
    assert_eq!((client.cookie(REMEMBER), ada.get("/profile").status().as_u16()), (None, 401));
    assert_eq!(with(&world, &copied).status(), 401);
    assert!(world.events().ends_with("remember-me cookie used twice, signed out everywhere"), "{}", world.events());
}

#[test]
fn signing_out_forgets_the_browser_and_everywhere_all_of_them() {
    let (world, _) = World::with_ada();
    let (phone, desk) = (remembered(&world), remembered(&world));
    let token = phone.cookie(REMEMBER).unwrap();
    assert_eq!(phone.post("/sign-out", &[]).text(), "bye");
    assert_eq!((phone.cookie(REMEMBER), with(&world, &token).status().as_u16()), (None, 401));
    let (token, third) = (desk.cookie(REMEMBER).unwrap(), remembered(&world));
    third.post("/sign-out?everywhere=true", &[]);
    assert_eq!(with(&world, &token).status(), 401);
}

#[test]
fn a_made_up_token_is_nobodys() {
    let (world, _) = World::with_ada();
    for made_up in ["", ".", "x.y", &format!("{}.{}", "A".repeat(32), "B".repeat(32))] {
        assert_eq!(with(&world, made_up).status(), 401, "{made_up}");
    }
}

#[test]
fn a_user_sees_all_sessions_and_ends_one() {
    let (world, ada) = World::with_ada();
    let phone = world.client();
    let agent = "Mozilla/5.0 (Android 16; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0";
    let fields = [("email", ADA), ("password", PASSWORD), ("remember", "on")];
    phone.request(Method::POST, "/sign-in").header("user-agent", agent).form(&fields).send();
    let list = ada.get("/sessions");
    assert_eq!(list.text().matches("<li>").count(), 2, "a remembered device is shown once: {}", list.text());
    let (others, _) = list.text().split_once("(this one)").unwrap();
    assert!(list.text().contains("Firefox on Android") && others.contains("unknown device"), "{}", list.text());
    let (_, entry) = list.text().split_once("Firefox on Android").unwrap();
    let (_, end) = entry.split_once("action=\"").unwrap();
    let end = end.split('"').next().unwrap();
    assert_eq!(ada.post(end, &[]).text(), "ended");
    assert_eq!(phone.get("/profile").status(), 401, "its remember-me has ended, too");
    assert_eq!((ada.post(end, &[]).status().as_u16(), ada.get("/profile").status().as_u16()), (404, 200));
}

#[test]
fn nobody_ends_sessions_of_others() {
    let (world, ada) = World::with_ada();
    let eve = world.client();
    eve.post("/sign-up", &[("email", "eve@example.org")]);
    eve.post(&world.link(), &[("password", "an apple a day")]);
    let list = eve.get("/sessions").text().to_owned();
    let (_, end) = list.split_once("action=\"").unwrap();
    assert_eq!(ada.post(end.split('"').next().unwrap(), &[]).status(), 404);
    assert_eq!(eve.get("/profile").status(), 200);
}

#[test]
fn a_device_whose_session_is_over_is_in_the_list() {
    let (world, _) = World::with_ada();
    let _phone = remembered(&world);
    is_over(&world);
    let ada = world.client();
    sign_in(&ada, PASSWORD);
    assert_eq!(ada.get("/sessions").text().matches("<li>").count(), 2);
}
