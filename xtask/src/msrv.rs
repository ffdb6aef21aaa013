//! The oldest supported Rust: `rust-version` in the root manifest.

use std::fs;

use crate::command;

/// The commands that check with it. None if this is the toolchain that runs all other steps.
pub(crate) fn commands() -> Result<Vec<String>, String> {
    let manifest = fs::read_to_string(command::root().join("Cargo.toml")).map_err(|error| error.to_string())?;
    let oldest = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \""));
    let oldest = oldest.ok_or("the root Cargo.toml has no rust-version")?.trim_end_matches('"');
    if is(&command::output("rustc", &["--version"])?, oldest) {
        return Ok(Vec::new());
    }
    // rustup answers for a toolchain; one that is missing fails the step.
    Ok(vec![format!("rustup run {oldest} cargo check --workspace --target-dir target/msrv")])
}

/// Whether `rustc 1.95.0 (...)` is of the line `1.95`.
fn is(version: &str, line: &str) -> bool {
    version.split(' ').nth(1).is_some_and(|version| version == line || version.starts_with(&format!("{line}.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_belongs_to_its_line() {
        assert!(is("rustc 1.95.0 (59807616e 2026-04-14)", "1.95"));
        assert!(!is("rustc 1.95.0 (59807616e 2026-04-14)", "1.9"));
        assert!(!is("rustc 1.96.1", "1.95"));
    }
}
