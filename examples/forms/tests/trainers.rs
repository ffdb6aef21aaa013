//! New and edit of trainers, which share their fields.

use skep::test::Client;

/// As the page that lists them links to it.
const EVE: &str = "/trainers/3";

#[test]
fn new_and_edit_share_fields_rules_and_columns() {
    let client = Client::new(forms::app());
    let refused = client.post("/trainers", &[("trainer.name", "Zoe"), ("trainer.place", "Zoe")]);
    assert_eq!(refused.status(), 422);
    assert!(refused.text().contains("That is the name."), "{}", refused.text());
    let added = client.post("/trainers", &[("trainer.name", "Zoe"), ("trainer.place", "At the lake")]);
    assert!(added.text().contains("Zoe</a>"), "{}", added.text());

    assert!(client.get(EVE).text().contains(r#"value="Eve""#));
    let retired = [("trainer.name", "Eva"), ("trainer.place", "At the lake"), ("trainer.retired", "on")];
    assert!(client.post(EVE, &retired).text().contains("Eva</a>"));
    let edit = client.get(EVE);
    assert!(
        edit.text().contains(r#"value="Eva""#) && edit.text().contains(r#"type="checkbox" checked"#),
        "{}",
        edit.text()
    );
}
