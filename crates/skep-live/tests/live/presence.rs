//! Presence in an application without a socket.

use std::time::Duration;

use skep::cache::Clock;
use skep::test::{Client, TestStream};
use skep::{Method, Setup};

use crate::application::app;
use crate::topics::events;

crate::tests![
    who_follows_a_page_is_present_until_it_is_closed,
    two_pages_of_one_are_one,
    who_only_looks_is_not_present,
    a_page_that_is_loaded_again_is_seen_by_nobody,
    who_comes_and_goes_is_published,
    who_is_someone_else_now_is_seen_by_all,
    whom_a_process_has_left_behind_is_gone_when_its_lease_ends,
    a_process_that_was_taken_for_dead_comes_back,
];

/// Follows the page of a room as somebody.
fn follow(client: &Client, path: &str) -> TestStream {
    let stream = client.request(Method::GET, path).header("skep-live", "people:0").open();
    assert_eq!(stream.status(), 200, "{path}");
    stream
}

/// Waits until the page shows exactly these.
fn shows(stream: &mut TestStream, names: &str) {
    let is_meant = |event: &String| event.starts_with("event: live") && event.contains(&format!("<p>{names}</p>"));
    std::iter::from_fn(|| stream.next_event()).find(is_meant).unwrap_or_else(|| panic!("it never showed {names:?}"));
}

fn listed(client: &Client) -> String {
    client.get("/rooms/a/people").text().split("<p>").nth(1).unwrap().split("</p>").next().unwrap().to_owned()
}

fn who_follows_a_page_is_present_until_it_is_closed() {
    let client = Client::new(app());
    let mut ann = follow(&client, "/rooms/a/people?id=1&name=Ann");
    shows(&mut ann, "Ann");
    let bob = follow(&client, "/rooms/a/people?id=2&name=Bob");
    let other = follow(&client, "/rooms/b/people?id=3&name=Cid");
    shows(&mut ann, "Ann, Bob");
    assert_eq!(listed(&client), "Ann, Bob");
    drop((bob, other));
    shows(&mut ann, "Ann");
}

fn two_pages_of_one_are_one() {
    let client = Client::new(app());
    let mut ann = follow(&client, "/rooms/a/people?id=1&name=Ann");
    let bobs = ["/rooms/a/people?id=2&name=Bob", "/rooms/a/people?id=2&name=Bob"].map(|path| follow(&client, path));
    shows(&mut ann, "Ann, Bob");
    let [first, mut second] = bobs;
    drop(first);
    let cid = follow(&client, "/rooms/a/people?id=3&name=Cid");
    shows(&mut second, "Ann, Bob, Cid");
    drop((second, cid));
    shows(&mut ann, "Ann");
}

fn who_only_looks_is_not_present() {
    let client = Client::new(app());
    assert_eq!(client.get("/rooms/a/people?id=1&name=Ann").status(), 200);
    // Followed, but refused.
    let refused =
        client.request(Method::GET, "/rooms/a/people?id=1&name=nobody").header("skep-live", "people:0").send();
    assert_eq!(refused.status(), 403);
    let mut bob = follow(&client, "/rooms/a/people?id=2&name=Bob");
    shows(&mut bob, "Bob");
}

fn a_page_that_is_loaded_again_is_seen_by_nobody() {
    let client = Client::new(app());
    let mut changes = events(&client, "/rooms/a/arrivals?id=1&name=Ann&after=0");
    assert_eq!(changes.next().unwrap(), "id: 0");
    assert_eq!(changes.next().unwrap(), "id: 1\ndata: {\"here\":{\"id\":\"1\",\"who\":{\"name\":\"Ann\"}}}");
    let mut bob = follow(&client, "/rooms/a/people?id=2&name=Bob");
    shows(&mut bob, "Ann, Bob");
    drop(bob);
    let mut again = follow(&client, "/rooms/a/people?id=2&name=Bob");
    shows(&mut again, "Ann, Bob");
    assert!(changes.next().unwrap().contains("{\"here\":{\"id\":\"2\""));
    drop(again);
    assert!(changes.next().unwrap().ends_with("data: {\"gone\":{\"id\":\"2\"}}"), "once, in the end");
}

fn who_comes_and_goes_is_published() {
    let client = Client::new(app());
    let mut changes = events(&client, "/rooms/a/arrivals?id=1&name=Ann&after=0");
    assert_eq!(changes.next().unwrap(), "id: 0");
    assert_eq!(changes.next().unwrap(), "id: 1\ndata: {\"here\":{\"id\":\"1\",\"who\":{\"name\":\"Ann\"}}}");
    let bob = follow(&client, "/rooms/a/people?id=2&name=Bob");
    assert_eq!(changes.next().unwrap(), "id: 2\ndata: {\"here\":{\"id\":\"2\",\"who\":{\"name\":\"Bob\"}}}");
    assert_eq!(listed(&client), "Ann, Bob");
    drop(bob);
    assert_eq!(changes.next().unwrap(), "id: 3\ndata: {\"gone\":{\"id\":\"2\"}}");
    assert_eq!(listed(&client), "Ann");
}

fn who_is_someone_else_now_is_seen_by_all() {
    let client = Client::new(app());
    let mut ann = follow(&client, "/rooms/a/people?id=1&name=Ann");
    let mut bob = follow(&client, "/rooms/a/people?id=2&name=counts");
    shows(&mut ann, "Ann, 0 notes");
    shows(&mut bob, "Ann, 0 notes");
    assert_eq!(client.post("/rooms/a/notes/one", &[]).status(), 200);
    // A stream goes on as it is read.
    shows(&mut bob, "Ann, 1 notes");
    shows(&mut ann, "Ann, 1 notes");
}

/// A client whose clock is moved.
fn client() -> (Client, Clock) {
    let mut setup = Setup::default();
    (setup.temporary_database, setup.clock) = (true, Clock::manual());
    let clock = setup.clock.clone();
    (Client::with_setup(app(), setup), clock)
}

fn change(client: &Client, sql: &str) {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let encoded: String =
        sql.bytes().map(|byte| if plain(byte) { char::from(byte).into() } else { format!("%{byte:02X}") }).collect();
    assert_eq!(client.post(&format!("/change?sql={encoded}"), &[]).status(), 200, "{sql}");
}

fn whom_a_process_has_left_behind_is_gone_when_its_lease_ends() {
    let (client, clock) = client();
    let until = clock.now().plus(Duration::from_secs(30)).millis();
    change(&client, "insert into skep_presence values ('dead', 1, 'people', 'a', '9', '{\"name\":\"Ghost\"}', 0)");
    change(&client, &format!("insert into skep_presence_process values ('dead', {until})"));
    let mut changes = events(&client, "/rooms/a/arrivals?id=1&name=Ann&after=0");
    assert!(changes.by_ref().nth(1).unwrap().contains("Ann"));
    assert_eq!(listed(&client), "Ghost, Ann");
    clock.advance(Duration::from_secs(31));
    // Somebody comes, by whom the process notices.
    let mut bob = follow(&client, "/rooms/a/people?id=2&name=Bob");
    shows(&mut bob, "Ann, Bob");
    // On a busy machine there may be a comment for the silence between.
    let rest: Vec<String> = changes.filter(|event| event != ":").take(2).collect();
    assert!(rest[0].contains("\"here\":{\"id\":\"2\"") && rest[1].contains("{\"gone\":{\"id\":\"9\"}}"), "{rest:?}");
}

fn a_process_that_was_taken_for_dead_comes_back() {
    let (client, clock) = client();
    let mut ann = follow(&client, "/rooms/a/people?id=1&name=Ann");
    shows(&mut ann, "Ann");
    clock.advance(Duration::from_secs(31));
    change(&client, "delete from skep_presence");
    change(&client, "delete from skep_presence_process");
    shows(&mut ann, "");
    // The next renewal notices, here with somebody who comes.
    let mut bob = follow(&client, "/rooms/a/people?id=2&name=Bob");
    let both = |event: String| event.contains("Ann") && event.contains("Bob");
    assert!(std::iter::from_fn(|| ann.next_event()).any(both));
    assert!(std::iter::from_fn(|| bob.next_event()).any(both));
}
