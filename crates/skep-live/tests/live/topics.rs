//! Topics in an application without a socket.

use std::time::Duration;

use skep::cache::Clock;
use skep::test::Client;
use skep::{Method, Setup};
use skep_live::Topics;

use crate::application::{app, app_with};

crate::tests![
    subscribers_get_what_is_committed_and_nothing_else,
    what_was_published_before_the_subscription_is_not_lost,
    who_names_a_message_that_is_gone_reloads,
    a_number_of_another_database_reloads,
    a_slow_subscriber_reloads_and_goes_on_from_there,
    what_was_missed_is_read_in_steps,
    old_messages_are_removed_but_for_the_last_one,
    a_drain_ends_events_and_nothing_is_lost,
    each_message_reaches_all_subscribers_in_order,
];

pub(crate) fn events(client: &Client, path: &str) -> impl Iterator<Item = String> + use<> {
    let mut stream = client.request(Method::GET, path).open();
    assert_eq!(stream.status(), 200, "{path}");
    std::iter::from_fn(move || stream.next_event()).filter(|event| !event.starts_with("retry: "))
}

fn write(client: &Client, room: &str, text: &str) {
    assert_eq!(client.post(&format!("/rooms/{room}/notes/{text}"), &[]).status(), 200);
}

fn note(number: i64, text: &str) -> String {
    format!("id: {number}\ndata: {{\"text\":\"{text}\"}}")
}

fn subscribers_get_what_is_committed_and_nothing_else() {
    let client = Client::new(app());
    let mut all = events(&client, "/rooms/a/events");
    assert_eq!(all.next().unwrap(), "id: 0");
    write(&client, "a", "one");
    write(&client, "b", "other");
    assert_eq!(client.post("/rooms/a/notes/undone?fails=true", &[]).status(), 409);
    assert_eq!(client.post("/rooms/a/notes/two?alone=true", &[]).status(), 200);
    assert_eq!(all.next().unwrap(), note(1, "one"));
    assert_eq!(all.next().unwrap(), note(3, "two"));
}

fn what_was_published_before_the_subscription_is_not_lost() {
    let client = Client::new(app());
    write(&client, "a", "shown");
    let page = client.get("/rooms/a");
    assert!(page.text().starts_with("<h1>1</h1>") && page.text().contains("<li>shown</li>"), "{}", page.text());
    write(&client, "a", "between");
    let mut all = events(&client, "/rooms/a/events?after=1");
    assert_eq!(all.next().unwrap(), "id: 1");
    assert_eq!(all.next().unwrap(), note(2, "between"));
    write(&client, "a", "after");
    assert_eq!(all.next().unwrap(), note(3, "after"));
    // A browser that connects again names the last one.
    let mut again = client.request(Method::GET, "/rooms/a/events?after=1").header("last-event-id", "2").open();
    let first = std::iter::from_fn(|| again.next_event()).find(|event| event.contains("data: "));
    assert_eq!(first.unwrap(), note(3, "after"));
}

fn client(topics: Topics) -> (Client, Clock) {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    setup.clock = Clock::manual();
    let clock = setup.clock.clone();
    (Client::with_setup(app_with(topics), setup), clock)
}

fn tidy(client: &Client) {
    client.site().jobs().iter().for_each(|job| job.run(client.site()));
}

fn who_names_a_message_that_is_gone_reloads() {
    let (client, clock) = client(Topics::new());
    for text in ["one", "two", "three"] {
        write(&client, "a", text);
    }
    clock.advance(Duration::from_hours(2));
    write(&client, "a", "four");
    tidy(&client);
    let mut gone = events(&client, "/rooms/a/events?after=1");
    assert_eq!(gone.next().unwrap(), "id: 1");
    assert_eq!(gone.next().unwrap(), "event: reload\nid: 4\ndata: ");
    assert_eq!(gone.next(), None);
    // The first one that is still there follows this one.
    let mut there = events(&client, "/rooms/a/events?after=3");
    assert_eq!((there.next().unwrap(), there.next().unwrap()), ("id: 3".into(), note(4, "four")));
}

fn a_number_of_another_database_reloads() {
    let client = Client::new(app());
    write(&client, "a", "one");
    let mut gone = events(&client, "/rooms/a/events?after=7");
    assert_eq!((gone.next().unwrap(), gone.next().unwrap()), ("id: 7".into(), "event: reload\nid: 1\ndata: ".into()));
}

fn a_slow_subscriber_reloads_and_goes_on_from_there() {
    let (client, _) = client(Topics::new().buffer(10));
    let mut slow = events(&client, "/rooms/a/events");
    let mut quick = events(&client, "/rooms/a/events");
    assert_eq!((slow.next().unwrap(), quick.next().unwrap()), ("id: 0".into(), "id: 0".into()));
    for number in 1..=20 {
        write(&client, "a", &number.to_string());
        assert_eq!(quick.next().unwrap(), note(number, &number.to_string()));
    }
    assert_eq!(slow.next().unwrap(), "event: reload\nid: 20\ndata: ");
    assert_eq!(slow.next(), None);
}

fn what_was_missed_is_read_in_steps() {
    let (client, _) = client(Topics::new().buffer(10));
    assert_eq!(client.post("/rooms/a/many/1/1000", &[]).status(), 200);
    let mut all = events(&client, "/rooms/a/events?after=0");
    assert_eq!(all.next().unwrap(), "id: 0");
    for number in 1..=1000 {
        assert_eq!(all.next().unwrap(), note(number, &number.to_string()));
        if number == 500 {
            write(&client, "a", "1001");
        }
    }
    assert_eq!(all.next().unwrap(), note(1001, "1001"));
}

fn old_messages_are_removed_but_for_the_last_one() {
    let (client, clock) = client(Topics::new().keep_most(3));
    for number in 1..=8 {
        write(&client, "a", &number.to_string());
    }
    tidy(&client);
    let mut there = events(&client, "/rooms/a/events?after=5");
    assert_eq!(there.next().unwrap(), "id: 5");
    for number in 6..=8 {
        assert_eq!(there.next().unwrap(), note(number, &number.to_string()));
    }
    clock.advance(Duration::from_hours(2));
    tidy(&client);
    assert!(client.get("/rooms/a").text().starts_with("<h1>8</h1>"));
}

fn a_drain_ends_events_and_nothing_is_lost() {
    let client = Client::new(app());
    let mut all = events(&client, "/rooms/a/events");
    assert_eq!(all.next().unwrap(), "id: 0");
    write(&client, "a", "one");
    assert_eq!(all.next().unwrap(), note(1, "one"));
    client.drain();
    assert_eq!(all.next(), None);
}

fn each_message_reaches_all_subscribers_in_order() {
    let client = Client::new(app());
    let mut all: Vec<_> = (0..50).map(|_| events(&client, "/rooms/a/events")).collect();
    for one in &mut all {
        assert_eq!(one.next().unwrap(), "id: 0");
    }
    assert_eq!(client.post("/rooms/a/many/1/200", &[]).status(), 200);
    for one in &mut all {
        for number in 1..=200 {
            assert_eq!(one.next().unwrap(), note(number, &number.to_string()));
        }
    }
}
