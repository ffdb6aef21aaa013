//! Templates with places such as `$title$`.

/// Names of places, and what stands there.
pub(super) type Places = Vec<(&'static str, String)>;

/// The text with everything in its place.
pub(super) fn fill(template: &str, places: &Places) -> String {
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
