//! The board without a browser: as its forms work without JavaScript, and as a live page sends them.

use skep::Method;
use skep::test::{Client, TestStream};

/// Somebody with a name.
fn person(client: &Client, name: &str) -> Client {
    let person = Client::of_site(client.site());
    let page = person.post("/name", &[("name", name), ("board", "1")]);
    assert!(page.text().contains("<h1>The spring on the apiary</h1>"), "{}", page.text());
    person
}

/// The titles of a list, as the page has them.
fn list(person: &Client, name: &str) -> Vec<String> {
    let page = person.get("/boards/1").text().to_owned();
    let list = page.split(&format!("data-list=\"{name}\"")).nth(1).unwrap().split("</section>").next().unwrap();
    let title = |part: &str| part.split("</summary>").next().unwrap().to_owned();
    list.split("<summary>").skip(1).map(title).collect()
}

fn follow(person: &Client) -> TestStream {
    person.request(Method::GET, "/boards/1").header("skep-live", "viewers:0 lists:0").open()
}

fn wait_for(stream: &mut TestStream, text: &str) {
    let found = std::iter::from_fn(|| stream.next_event()).any(|event| event.contains(text));
    assert!(found, "it was never sent {text:?}");
}

#[test]
fn who_has_no_name_is_asked_and_comes_to_the_board() {
    let client = Client::new(board::app());
    let page = client.get("/boards/1");
    assert!(page.text().contains("Who are you?") && page.text().contains("value=\"1\""), "{}", page.text());
    assert_eq!(client.post("/name", &[("name", " ")]).status(), 422);
    let ann = person(&client, "Ann");
    assert!(ann.get("/").text().contains("Hello Ann"));
    assert!(ann.post("/", &[("title", "Autumn")]).text().contains("<h1>Autumn</h1>"));
    assert_eq!(ann.get("/boards/77").status(), 404);
}

#[test]
fn cards_are_moved_by_buttons() {
    let ann = person(&Client::new(board::app()), "Ann");
    let press = |card: u32, to: &str| {
        assert_eq!(ann.post(&format!("/boards/1/cards/{card}/move"), &[("to", to)]).status(), 200);
    };
    assert_eq!(list(&ann, "todo"), ["Order new frames", "Mend the smoker", "Paint the hives"]);
    press(3, "up");
    assert_eq!(list(&ann, "todo"), ["Order new frames", "Paint the hives", "Mend the smoker"]);
    press(1, "down");
    press(1, "up");
    press(1, "up");
    press(1, "left");
    assert_eq!(list(&ann, "todo"), ["Order new frames", "Paint the hives", "Mend the smoker"], "it cannot go further");
    press(3, "right");
    assert_eq!(list(&ann, "doing"), ["Look after the queens", "Paint the hives"]);
    press(3, "right");
    press(3, "right");
    assert_eq!(list(&ann, "done"), ["Clean the extractor", "Paint the hives"]);
    assert_eq!(list(&ann, "todo"), ["Order new frames", "Mend the smoker"]);
}

#[test]
fn cards_are_put_before_others() {
    let ann = person(&Client::new(board::app()), "Ann");
    let put = |card: &str, list: &str, before: &str| {
        ann.post("/boards/1/put", &[("card", card), ("list", list), ("before", before)]).status()
    };
    assert_eq!(put("1", "todo", "3"), 200);
    assert_eq!(list(&ann, "todo"), ["Mend the smoker", "Order new frames", "Paint the hives"]);
    assert_eq!(put("3", "todo", "2"), 200);
    assert_eq!(list(&ann, "todo"), ["Paint the hives", "Mend the smoker", "Order new frames"]);
    assert_eq!(put("2", "done", ""), 200);
    assert_eq!(list(&ann, "done"), ["Clean the extractor", "Mend the smoker"]);
    assert_eq!(put("77", "done", ""), 404);
    assert_eq!(list(&ann, "todo"), ["Paint the hives", "Order new frames"]);
}

#[test]
fn cards_are_added_and_removed() {
    let ann = person(&Client::new(board::app()), "Ann");
    assert_eq!(ann.post("/boards/1/doing", &[("title", "Write it down")]).status(), 200);
    assert_eq!(list(&ann, "doing"), ["Look after the queens", "Write it down"]);
    let wrong = ann.post("/boards/1/doing", &[("title", "")]);
    assert_eq!(wrong.status(), 422);
    assert_eq!(wrong.text().matches("class=\"problem\"").count(), 1, "in its own form only: {}", wrong.text());
    for _ in 0..2 {
        assert_eq!(ann.post("/boards/1/cards/4/remove", &[]).status(), 200);
    }
    assert_eq!(list(&ann, "doing"), ["Write it down"]);
}

#[test]
fn who_edits_what_another_one_has_changed_sees_that() {
    let ann = person(&Client::new(board::app()), "Ann");
    let save = |version: &str, title: &str| {
        ann.post("/boards/1/cards/2", &[("version", version), ("title", title), ("note", "")])
    };
    assert_eq!(save("1", "Buy a smoker").status(), 200);
    let second = save("1", "Mend it");
    assert_eq!(second.status(), 409);
    assert!(second.text().contains("Buy a smoker"), "{}", second.text());
    assert_eq!(list(&ann, "todo")[1], "Buy a smoker");
    let wrong = save("2", "");
    assert_eq!(wrong.status(), 422);
    assert_eq!(wrong.text().matches("<details open>").count(), 1, "the form that is wrong is open");
}

#[test]
fn a_change_is_sent_to_who_looks_at_the_board() {
    let client = Client::new(board::app());
    let (ann, ben) = (person(&client, "Ann"), person(&client, "Ben"));
    let mut seen_by_ann = follow(&ann);
    wait_for(&mut seen_by_ann, "<li>Ann</li>");
    let seen_by_ben = follow(&ben);
    wait_for(&mut seen_by_ann, "<li>Ann</li><li>Ben</li>");
    assert!(ann.get("/boards/1").text().contains("<li>Ann</li><li>Ben</li>"));
    ben.post("/boards/1/cards/1/move", &[("to", "right")]);
    wait_for(&mut seen_by_ann, ">2</span>");
    drop(seen_by_ben);
    wait_for(&mut seen_by_ann, "board\\\"><li>Ann</li></ul>");
}
