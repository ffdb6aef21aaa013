//! Live pages in an application without a socket.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use skep::cache::Clock;
use skep::test::{Client, TestStream};
use skep::{Method, Setup};

use crate::application::{Renderings, app};

crate::tests![
    a_page_without_the_field_is_the_page_as_it_is,
    a_viewer_gets_what_changed_before_and_after,
    a_write_is_rendered_once_for_all_viewers,
    a_write_to_a_table_that_the_page_does_not_read_renders_nothing,
    a_write_whose_tables_are_not_known_is_shown,
    a_page_of_one_viewer_is_its_own,
    who_loses_access_sees_nothing_more,
    a_drain_ends_what_is_followed,
    a_refusal_is_passed_on,
    a_form_is_never_repeated,
    a_form_that_is_sent_in_place_learns_where_it_leads,
    the_script_is_at_most_six_kilobytes_as_it_travels,
    a_page_that_is_open_does_not_keep_its_session,
    a_rendering_does_not_count_for_a_rate_limit,
];

/// Follows a page that shows these versions.
fn follow(client: &Client, path: &str, shown: &str, from: &str) -> TestStream {
    client.request(Method::GET, path).header("skep-live", shown).header("from", from).open()
}

/// The next piece: its name, version and HTML.
fn piece(stream: &mut TestStream) -> (String, String, String) {
    let is_piece = |event: &String| !event.starts_with("retry: ") && event != ":";
    let event = std::iter::from_fn(|| stream.next_event()).find(is_piece).unwrap();
    let data = event.strip_prefix("event: live\ndata: ").unwrap_or_else(|| panic!("{event}"));
    let update: std::collections::BTreeMap<String, String> = serde_json::from_str(data).unwrap();
    (update["name"].clone(), update["version"].clone(), update["html"].clone())
}

fn write(client: &Client, room: &str, text: &str) {
    assert_eq!(client.post(&format!("/rooms/{room}/notes/{text}"), &[]).status(), 200);
}

fn a_page_without_the_field_is_the_page_as_it_is() {
    let client = Client::new(app());
    write(&client, "a", "one");
    let page = client.get("/rooms/a");
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(page.text().contains("<ul><li>one</li></ul><!--/live notes--><p>outside</p>"), "{}", page.text());
}

fn a_viewer_gets_what_changed_before_and_after() {
    let client = Client::new(app());
    // What it shows was made before anything was written.
    let page = client.get("/rooms/a").text().to_owned();
    let version = page.split("<!--live notes ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    write(&client, "a", "between");
    let mut stream = follow(&client, "/rooms/a", &format!("notes:{version}"), "");
    let (name, second, html) = piece(&mut stream);
    assert_eq!((&*name, &*html), ("notes", "<ul><li>between</li></ul>"));
    write(&client, "a", "after");
    let (_, third, html) = piece(&mut stream);
    assert_eq!(html, "<ul><li>between</li><li>after</li></ul>");
    assert!(version != second && second != third);
    // One who shows the last one gets the next one only.
    let mut other = follow(&client, "/rooms/a", &format!("notes:{third}"), "");
    write(&client, "a", "last");
    assert_eq!(piece(&mut other).2, "<ul><li>between</li><li>after</li><li>last</li></ul>");
}

fn a_write_is_rendered_once_for_all_viewers() {
    let client = Client::new(app());
    let mut all: Vec<_> = (0..40).map(|_| follow(&client, "/rooms/a", "notes:0", "")).collect();
    for one in &mut all {
        assert_eq!(piece(one).2, "<ul></ul>");
    }
    let renderings = || client.site().state::<Renderings>().0.load(Ordering::Relaxed);
    let before = renderings();
    for (count, text) in (1..).zip(["one", "two", "three"]) {
        write(&client, "a", text);
        for one in &mut all {
            assert!(piece(one).2.contains(text));
        }
        assert_eq!(renderings() - before, count);
    }
}

fn a_write_to_a_table_that_the_page_does_not_read_renders_nothing() {
    let client = Client::new(app());
    let mut stream = follow(&client, "/asked", "asked:0", "");
    assert_eq!(piece(&mut stream).2, "1");
    for _ in 0..20 {
        assert_eq!(client.post("/elsewhere", &[]).status(), 200);
    }
    write(&client, "a", "one");
    assert_eq!(piece(&mut stream).2, "2");
}

fn a_write_whose_tables_are_not_known_is_shown() {
    let client = Client::new(app());
    let mut stream = follow(&client, "/rooms/a", "notes:0", "");
    assert_eq!(piece(&mut stream).2, "<ul></ul>");
    let insert = "/change?sql=insert+into+note+(room,text)+values+('a','by+hand')";
    assert_eq!(client.post(insert, &[]).status(), 200);
    assert_eq!(piece(&mut stream).2, "<ul><li>by hand</li></ul>");
}

fn a_page_of_one_viewer_is_its_own() {
    let client = Client::new(app());
    let [mut ada, mut bob] = ["ada", "bob"].map(|key| follow(&client, "/own", "own:0", key));
    assert_eq!((piece(&mut ada).2, piece(&mut bob).2), ("<p>ada sees 0</p>".into(), "<p>bob sees 0</p>".into()));
    write(&client, "a", "one");
    assert_eq!((piece(&mut ada).2, piece(&mut bob).2), ("<p>ada sees 1</p>".into(), "<p>bob sees 1</p>".into()));
}

/// At once, since the guard has read the table that was written.
fn who_loses_access_sees_nothing_more() {
    let client = Client::new(app());
    let mut ada = follow(&client, "/own", "own:0", "ada");
    assert_eq!(piece(&mut ada).2, "<p>ada sees 0</p>");
    assert_eq!(client.post("/holders/ada/end", &[]).status(), 200);
    assert_eq!(ada.next_event().unwrap(), "event: reload\ndata: ");
    assert_eq!(ada.next_event(), None);
    assert_eq!(client.post("/rooms/a/notes/secret", &[]).status(), 200);
}

fn a_drain_ends_what_is_followed() {
    let client = Client::new(app());
    let mut stream = follow(&client, "/rooms/a", "notes:0", "");
    assert_eq!(piece(&mut stream).2, "<ul></ul>");
    client.drain();
    assert_eq!(stream.next_event(), None);
}

fn a_refusal_is_passed_on() {
    let client = Client::new(app());
    for (path, status) in [("/own", 403), ("/nowhere", 404)] {
        assert_eq!(client.request(Method::GET, path).header("skep-live", "own:0").send().status(), status);
    }
}

fn a_form_is_never_repeated() {
    let client = Client::new(app());
    let answer = client.request(Method::POST, "/asked").header("skep-live", "asked:0").send();
    assert_eq!((answer.status().as_u16(), answer.header("content-type")), (200, Some("text/html; charset=utf-8")));
}

fn a_form_that_is_sent_in_place_learns_where_it_leads() {
    let client = Client::new(app());
    let send = |path: &str| client.request(Method::POST, path).header("skep-live", "form").send();
    let there = send("/rooms/a/leave");
    let fields = (there.header("skep-live"), there.header("location"));
    assert_eq!((there.status().as_u16(), fields), (204, (Some("/rooms/a#left"), None)));
    assert!(
        there.header("set-cookie").is_some_and(|cookie| cookie.starts_with("skep-flash=")),
        "the next page shows it"
    );
    assert_eq!(there.text(), "");
    // A guard leaves with an error that is one.
    let guarded = send("/rooms/a/guarded");
    assert_eq!((guarded.status().as_u16(), guarded.header("skep-live")), (204, Some("/rooms/a")));
    // Followed by `fetch`, one is answered with the page.
    let page = client.request(Method::GET, "/rooms/a").header("skep-live", "form").send();
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    // What is no redirect by GET is passed on.
    assert_eq!(send("/nowhere").status(), 404);
    assert_eq!(client.post("/rooms/a/leave", &[]).status(), 200, "others are redirected");
}

fn the_script_is_at_most_six_kilobytes_as_it_travels() {
    let client = Client::new(app());
    let page = client.get("/script");
    let script = page.text().split('"').find(|part| part.starts_with("/-/live/")).unwrap().to_owned();
    for coding in ["gzip", "br"] {
        let answer = client.request(Method::GET, &script).header("accept-encoding", coding).send();
        assert_eq!(answer.header("content-encoding"), Some(coding));
        let length: usize = answer.header("content-length").unwrap().parse().unwrap();
        assert!(length <= 6 << 10, "{coding}: {length} bytes");
    }
}

/// Two weeks pass (`session.idle`), in which the page is rendered now and then, and its user does nothing.
fn a_page_that_is_open_does_not_keep_its_session() {
    let mut setup = Setup::default();
    (setup.temporary_database, setup.clock) = (true, Clock::manual());
    let clock = setup.clock.clone();
    let client = Client::of_site(&Arc::new(app().open(setup).unwrap()));
    client.post("/session/Ann", &[]);
    let mut stream = follow(&client, "/session", "session:0", "");
    assert_eq!(piece(&mut stream).2, "Ann sees 0");
    for (count, days) in (1..).zip([6, 4]) {
        clock.advance(Duration::from_hours(24 * days));
        write(&client, "a", "note");
        assert_eq!(piece(&mut stream).2, format!("Ann sees {count}"));
    }
    clock.advance(Duration::from_hours(24));
    write(&client, "a", "note");
    assert_eq!(piece(&mut stream).2, "nobody sees 3");
}

fn a_rendering_does_not_count_for_a_rate_limit() {
    let client = Client::new(app());
    let mut stream = follow(&client, "/seldom", "seldom:0", "");
    assert_eq!(piece(&mut stream).2, "0");
    for count in 1..=3 {
        write(&client, "a", "note");
        assert_eq!(piece(&mut stream).2, count.to_string());
    }
    assert_eq!(client.get("/seldom").status(), 429);
}
