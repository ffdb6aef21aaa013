//! The notes as a browser sees them: without a socket, each test with a database of its own.

#[path = "support/client.rs"]
mod support;

use skep::Method;
use skep::prelude::*;
use skep::test::Client;

use members::note::{Delete, Edit, Notes, Save, Show};

use support::client;

/// Writes a note by the form, as a person would.
fn write(client: &Client, title: &str) {
    let page = client.get(&Edit { id: None }.url());
    let saved = page
        .form::<Save>()
        .set(Save::title, title)
        .set(Save::body, "3 <jars>")
        .submit();
    assert!(saved.text().contains("Saved."), "{}", saved.text());
}

#[test]
fn a_note_is_written_changed_and_deleted() {
    let client = client();
    assert!(
        client
            .get("/notes")
            .text()
            .contains("There are no notes yet.")
    );
    write(&client, "Honey");
    assert!(client.get("/notes").text().contains("Honey"));
    assert!(client.get("/notes/1").text().contains("3 &lt;jars&gt;"));

    let page = client.get(&Edit { id: Some(1) }.url());
    assert!(page.text().contains("value=\"Honey\""));
    page.form::<Save>().set(Save::title, "Wax").submit();
    let note = client.get(&Show { id: 1 }.url());
    assert!(note.text().contains("<h1>Wax</h1>") && note.text().contains("3 &lt;jars&gt;"));

    assert!(note.form::<Delete>().submit().text().contains("Deleted."));
    assert_eq!(client.get("/notes/1").status(), 404);
}

#[test]
fn a_long_list_has_several_pages() {
    let client = client();
    (1..=21).for_each(|number| write(&client, &format!("Note {number}.")));
    let first = client.get(&Notes { at: None }.url());
    assert!(first.text().contains("Note 21.") && !first.text().contains("Note 1."));
    let (_, older) = first.text().split_once("rel=\"next\" href=\"").unwrap();
    let second = client.get(older.split('"').next().unwrap());
    assert!(second.text().contains("Note 1.") && !second.text().contains("Note 21."));
}

#[test]
fn a_note_needs_a_title() {
    let refused = client().post("/notes/edit", &[("title", " "), ("body", "typed")]);
    assert_eq!(refused.status(), 422);
    assert!(refused.text().contains("class=\"problem\"") && refused.text().contains("typed"));
}

#[test]
fn what_is_not_there_is_a_page_of_ours() {
    let client = client();
    let fields = [("title", "Nobody's"), ("body", "")];
    for answer in [
        client.get("/notes/7"),
        client.post("/notes/edit?id=7", &fields),
        client.post("/notes/7/delete", &[]),
    ] {
        assert_eq!(answer.status(), 404);
        assert!(answer.text().contains("/static/"), "{}", answer.text());
    }
}

#[test]
fn another_site_changes_nothing() {
    let client = client();
    write(&client, "Honey");
    let request = client.request(Method::POST, "/notes/1/delete");
    let refused = request.header("sec-fetch-site", "cross-site").send();
    assert_eq!(refused.status(), 403);
    assert_eq!(client.get("/notes/1").status(), 200);
}
