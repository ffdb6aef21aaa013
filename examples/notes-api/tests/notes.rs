//! The notes as a program sees them: without a socket, each test with a database of its own.

use serde_json::{Value, json};
use skep::Method;
use skep::test::{Client, TestResponse};

use notes_api::app;

fn client() -> Client {
    Client::new(app())
}

fn write(client: &Client, title: &str) -> TestResponse {
    let note = json!({ "title": title, "body": "3 jars" });
    client.request(Method::POST, "/notes").json(&note).send()
}

fn read(response: &TestResponse) -> Value {
    serde_json::from_str(response.text()).unwrap()
}

#[test]
fn a_note_is_written_changed_and_deleted() {
    let client = client();
    let written = write(&client, "Honey");
    let note = json!({ "id": 1, "title": "Honey", "body": "3 jars" });
    assert_eq!((written.status().as_u16(), read(&written)), (201, note));

    let wax = json!({ "title": "Wax", "body": "" });
    let changed = client.request(Method::PUT, "/notes/1").json(&wax).send();
    assert_eq!(read(&changed)["title"], "Wax");
    assert_eq!(read(&client.get("/notes/1"))["title"], "Wax");

    let deleted = client.request(Method::DELETE, "/notes/1").send();
    assert_eq!(deleted.status(), 204);
    assert_eq!(client.get("/notes/1").status(), 404);
}

#[test]
fn a_long_list_has_several_pages() {
    let client = client();
    (1..=21).for_each(|number| drop(write(&client, &format!("Note {number}"))));
    let first = read(&client.get("/notes"));
    assert_eq!(first["notes"][0]["title"], "Note 21");
    let second = read(&client.get(first["next"].as_str().unwrap()));
    assert_eq!(second["notes"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&second["notes"][0]["title"], &second["next"]),
        (&json!("Note 1"), &Value::Null)
    );
}

#[test]
fn what_is_wrong_is_pointed_at() {
    let refused = write(&client(), " ");
    assert_eq!(refused.status(), 422);
    assert_eq!(read(&refused)["errors"][0]["pointer"], "#/title");
}

#[test]
fn what_is_not_there_is_not_found() {
    let client = client();
    let wax = json!({ "title": "Wax", "body": "" });
    for answer in [
        client.get("/notes/7"),
        client.request(Method::PUT, "/notes/7").json(&wax).send(),
        client.request(Method::DELETE, "/notes/7").send(),
    ] {
        assert_eq!(answer.status(), 404);
        assert_eq!(
            answer.header("content-type"),
            Some("application/problem+json")
        );
    }
}

#[test]
fn the_interface_is_described() {
    let document = read(&client().get("/openapi.json"));
    let paths = document["paths"].as_object().unwrap();
    assert_eq!(paths.keys().collect::<Vec<_>>(), ["/notes", "/notes/{id}"]);
    assert_eq!(
        document["components"]["schemas"]["Draft"]["properties"]["title"]["maxLength"],
        100
    );
}
