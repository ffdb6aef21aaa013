//! Templates with placeholders such as `$title$`.

/// Names of placeholders, and their values.
pub(super) type Placeholders = Vec<(&'static str, String)>;

/// The text with a value for each placeholder.
pub(super) fn fill(template: &str, places: &Placeholders) -> String {
    let mut parts = template.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    while let (Some(name), Some(after)) = (parts.next(), parts.next()) {
        let place = places.iter().find(|(place, _)| *place == name);
        let value = place.map(|(_, value)| value.as_str());
        debug_assert!(value.is_some(), "a template has the place {name}, and nothing for it");
        text.push_str(value.unwrap_or_default());
        text.push_str(after);
    }
    text
}
