//! Unit tests of `form::garde`.

use super::super::info::info;
use super::*;

#[test]
fn a_path_of_garde_leads_to_the_control() {
    const GROUP: &[FieldInfo] = &[info::<String>("product")];
    let field =
        |name, group| FieldInfo { name, required: false, file: false, shape: None, offer: None, group, many: false };
    let fields = [field("author", &[]), field("tags", &[]), field("lines", GROUP)];
    for (path, expected) in [
        ("author", Some("author")),
        ("tags[1]", Some("tags")),
        ("lines", Some("lines")),
        ("lines[0].product", Some("lines.0.product")),
        ("lines[12].product[3]", Some("lines.12.product")),
        ("lines[0].other", Some("lines")),
        ("page", None),
    ] {
        assert_eq!(name(&fields, path).as_deref(), expected, "{path}");
    }
}
