//! The steps of `cargo xtask test`.

use crate::nearest;

/// One step.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// What holds when it passes.
    pub(crate) about: &'static str,
    pub(crate) work: Work,
}

/// What a step does.
#[derive(Debug)]
pub(crate) enum Work {
    /// Runs [`tidy`](crate::tidy), which is a part of this program.
    Tidy,
    /// Runs [`pages`](crate::pages), which is another.
    Pages,
    /// Runs commands, split at spaces, until one fails, with these variables added to their environment.
    Commands(&'static [&'static str], &'static [(&'static str, &'static str)]),
}

/// Every step, the quick ones first. All of them build with the same profile, features and flags, but for what a feature adds at the
/// end of a step; `RUSTDOCFLAGS`, unlike `RUSTFLAGS`, rebuilds nothing but documentation. The bench, a workspace of its own, is only formatted here: its
/// peers bring frameworks of their own, which take minutes to build.
pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "format",
        about: "rustfmt would change nothing",
        work: Work::Commands(
            &[
                "cargo fmt --all --check",
                "cargo fmt --all --manifest-path bench/Cargo.toml --check",
                "cargo fmt --manifest-path fuzz/Cargo.toml --check",
            ],
            &[],
        ),
    },
    Step { name: "tidy", about: "the tree has its shape (`cargo xtask tidy`)", work: Work::Tidy },
    Step {
        name: "clippy",
        about: "no warning in any target",
        work: Work::Commands(&["cargo clippy --workspace --all-targets -- -D warnings"], &[]),
    },
    Step {
        name: "test",
        about: "unit, integration, compile-fail, whole-process and documentation tests",
        work: Work::Commands(
            &["cargo test --workspace --no-fail-fast", "cargo test -p skep --features garde --lib --test form_garde"],
            &[],
        ),
    },
    Step {
        name: "pages",
        about: "every page of the examples passes the Nu Html Checker (`cargo xtask pages`)",
        work: Work::Pages,
    },
    Step {
        name: "wasm",
        about: "skep and the examples build as components",
        work: Work::Commands(
            &[
                "cargo build -p skep --target wasm32-wasip2",
                "cargo build -p skep --target wasm32-wasip2 --features openapi",
                "cargo rustc -p hello --lib --crate-type cdylib --target wasm32-wasip2",
                "cargo rustc -p blog --lib --crate-type cdylib --target wasm32-wasip2",
            ],
            &[],
        ),
    },
    Step {
        name: "docs",
        about: "the documentation builds, and its links lead somewhere",
        work: Work::Commands(&["cargo doc --workspace --no-deps"], &[("RUSTDOCFLAGS", "-D warnings")]),
    },
    Step {
        name: "deny",
        about: "dependencies have licences we accept and come from where we expect",
        work: Work::Commands(&["cargo deny check licenses bans sources"], &[]),
    },
];

/// The step of this name; otherwise an error with the nearest one.
pub(crate) fn named(name: &str) -> Result<&'static Step, String> {
    let step = STEPS.iter().find(|step| step.name == name);
    step.ok_or_else(|| nearest::unknown("step", name, STEPS.iter().map(|step| step.name)))
}

/// A line for each step.
pub(crate) fn list() -> String {
    let line = |step: &Step| format!("  {:<8} {}", step.name, step.about);
    STEPS.iter().map(line).collect::<Vec<_>>().join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_step_names_the_nearest() {
        assert!(named("clipy").unwrap_err().contains("\"clippy\""));
        assert_eq!(named("docs").unwrap().name, "docs");
    }

    #[test]
    fn the_list_has_every_step() {
        assert_eq!(list().lines().count(), STEPS.len());
    }
}
