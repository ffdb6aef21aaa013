//! The reference page is the table of settings, word for word.

#[test]
fn the_reference_page_is_up_to_date() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let written = std::fs::read_to_string(page).unwrap_or_default();
    assert!(
        written == skep_server::reference(),
        "run: cargo run -p skep-server --example configuration > docs/configuration.md"
    );
}
