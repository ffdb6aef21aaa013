//! Path prefixes of applications and folders.

/// A prefix as it is compared: empty for all paths, or with a leading slash and without a trailing one.
pub(crate) fn prefix(text: &str) -> String {
    let inner = text.trim_matches('/');
    if inner.is_empty() { String::new() } else { format!("/{inner}") }
}

/// The part of a path below a prefix, with its leading slash.
pub(crate) fn below<'p>(path: &'p str, prefix: &str) -> Option<&'p str> {
    path.strip_prefix(prefix).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}
