//! New and edit of trainers, which share their fields.

use forms::trainers::{Create, Save, TrainerFields};
use skep::test::Client;

/// As the page that lists them links to it.
const EVE: &str = "/trainers/3";

#[test]
fn new_and_edit_share_fields_rules_and_columns() {
    let client = Client::new(forms::app());
    let add = client.get("/trainers").form::<Create>();
    let add = add.set(Create::trainer.field(TrainerFields::name), "Zoe");
    let refused = add.set(Create::trainer.field(TrainerFields::place), "Zoe").submit();
    assert_eq!(refused.status(), 422);
    assert!(refused.text().contains("That is the name."), "{}", refused.text());
    let added = refused.form::<Create>().set(Create::trainer.field(TrainerFields::place), "At the lake").submit();
    assert!(added.text().contains("Zoe"), "{}", added.text());

    let edit = client.get(EVE);
    assert!(edit.text().contains(r#"value="Eve""#), "{}", edit.text());
    let saved = edit.form::<Save>().check(Save::trainer.field(TrainerFields::retired)).submit();
    assert_eq!(saved.status(), 200);
    let edit = client.get(EVE);
    assert!(edit.text().contains(r#"type="checkbox" checked"#), "{}", edit.text());
}
