//! A user learns from CHANGELOG.md what the next version brings.

use super::Complaint;
use super::source::Source;

/// The change log has a section for what is not released.
pub(super) fn unreleased(source: &Source) -> Vec<Complaint> {
    let has_section = || source.text.lines().any(|line| matches!(line.trim_end(), "## Unreleased" | "## [Unreleased]"));
    if source.path != "CHANGELOG.md" || has_section() {
        return Vec::new();
    }
    vec![source.complaint(1, "there is no section for what comes next; `## Unreleased` is the first one")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    #[test]
    fn the_change_log_has_a_section_for_what_comes_next() {
        assert_eq!(lines(unreleased, "CHANGELOG.md", "# Changes\n\n## Unreleased\n"), [0; 0]);
        assert_eq!(lines(unreleased, "CHANGELOG.md", "# Changes\n\n## 1.0.0\n"), [1]);
        assert_eq!(lines(unreleased, "README.md", "# Skep\n"), [0; 0]);
    }
}
