//! Ignored tests: `cargo xtask test external long` runs them all, except the helpers that other tests start.

use super::Complaint;
use super::source::Source;

/// How the name of a helper begins: what a test runs in a child process. The step `external` skips it.
const HELPER: &str = "child_process";

/// How the reason of a helper begins.
const REASON: &str = "child process";

/// A helper has the name that `external` skips, and nothing else has it.
pub(super) fn helpers(source: &Source) -> Vec<Complaint> {
    if !source.is_rust() || source.path.starts_with("xtask/") {
        return Vec::new();
    }
    let lines: Vec<&str> = source.text.lines().map(str::trim).collect();
    let complain = |(number, line): (usize, &&str)| {
        let reason = line.strip_prefix("#[ignore = \"")?;
        let function = lines[number + 1..].iter().find(|line| line.contains("fn "))?;
        let is_helper = function.contains(&format!("fn {HELPER}"));
        let text =
            format!("a helper is called `{HELPER}...`, and its reason begins with \"{REASON}\"; others do neither");
        (is_helper != reason.starts_with(REASON)).then(|| source.complaint(number + 1, text))
    };
    lines.iter().enumerate().filter_map(complain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::{STEPS, Work};
    use crate::tidy::lines;

    #[test]
    fn a_helper_has_its_name_and_its_reason() {
        let test = |reason: &str, name: &str| format!("#[test]\n#[ignore = \"{reason}\"]\nfn {name}() {{}}\n");
        let found = |reason, name| lines(helpers, "crates/a/tests/b.rs", &test(reason, name));
        assert_eq!(found("child process of the test above", "child_process"), [0; 0]);
        assert_eq!(found("child process of the test above", "the_server"), [2]);
        assert_eq!(found("needs Redis", "child_process"), [2]);
        assert_eq!(found("needs Redis", "a_key_expires"), [0; 0]);
    }

    #[test]
    fn the_step_of_ignored_tests_skips_helpers() {
        let external = STEPS.iter().find(|step| step.name == "external").unwrap();
        let Work::Commands(lines) = &external.work else { panic!("it runs commands") };
        let ignored = lines.iter().filter(|line| line.contains("--ignored"));
        assert!(ignored.clone().count() > 0 && ignored.clone().all(|line| line.ends_with(&format!("--skip {HELPER}"))));
    }
}
