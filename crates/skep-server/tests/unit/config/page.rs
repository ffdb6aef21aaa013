//! Tests of `config::page`.

use super::*;

#[test]
fn a_name_without_room_has_its_help_in_the_next_line() {
    let shown = |name: &str| {
        let mut page = String::new();
        entry(&mut page, name, "what it is");
        page
    };
    assert_eq!(shown("short"), format!("  {:<34}what it is\n", "short"));
    for length in 30..=40 {
        let name = "n".repeat(length);
        let text = shown(&name);
        let gap = if length <= 32 { " ".repeat(34 - length) } else { format!("\n{}", " ".repeat(36)) };
        assert_eq!(text, format!("  {name}{gap}what it is\n"), "{length}");
    }
}
