//! How errors show a statement and names, whichever database found them.

/// The line of the statement with a mark below the word at this place, in bytes.
///
/// ```
/// let shown = skep_sql_lock::message::pointed("select a,\n  titel from post", 12);
/// assert_eq!(shown, "\n  |\n  | titel from post\n  | ^^^^^");
/// ```
#[must_use]
pub fn pointed(sql: &str, offset: usize) -> String {
    let offset = offset.min(sql.len());
    let Some((before, after)) = sql.split_at_checked(offset) else { return String::new() };
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let end = after.find('\n').map_or(sql.len(), |at| offset + at);
    let line = sql[start..end].trim_end();
    let indent = line.len() - line.trim_start().len();
    let column = sql[start..offset].chars().count().saturating_sub(line[..indent].chars().count());
    let width =
        after.find(|next: char| !(next.is_alphanumeric() || "_.\"".contains(next))).unwrap_or(after.len()).max(1);
    let (space, marks) = (" ".repeat(column), "^".repeat(width));
    format!("\n  |\n  | {}\n  | {space}{marks}", line.trim_start())
}

/// Names in a sentence: `` `a`, `b` ``.
///
/// ```
/// assert_eq!(skep_sql_lock::message::listed(["a", "b"]), "`a`, `b`");
/// ```
pub fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
