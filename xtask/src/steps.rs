//! The steps of `cargo xtask test`.

use crate::features::Sets;

/// One step.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// What holds when it passes.
    pub(crate) about: &'static str,
    pub(crate) runs: Runs,
    pub(crate) work: Work,
}

/// When a step runs that is not named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    /// It needs Rust and a C compiler only.
    Always,
    /// With `--all` and `--rest`.
    Rest,
    /// With `--all`.
    All,
}

/// What a step does.
#[derive(Debug)]
pub(crate) enum Work {
    /// Runs [`tidy`](crate::tidy).
    Tidy,
    /// Runs [`pages`](crate::pages).
    Pages,
    /// Runs [`suites`](crate::suites).
    Suites,
    /// Runs [`executables`](crate::executables).
    Tests,
    /// Runs [`instructions`](crate::instructions).
    Instructions,
    /// Runs commands, split at spaces, until one fails.
    Commands(&'static [&'static str]),
    /// Runs commands, split at spaces, until one fails, while the steps after it run.
    Beside(&'static [&'static str]),
    /// Checks each crate with none of its features and its default, or with sets that separate them. See
    /// [`features`](crate::features).
    Features(Sets),
    /// Makes the packages that are published, or builds them, too. See [`packages`](crate::packages).
    Packages { build: bool },
    /// Asks the database of advisories about all dependencies, if it can be fetched.
    Advisories,
    /// Checks with the toolchain that the manifest names as the oldest. See [`msrv`](crate::msrv).
    Msrv,
}

/// Every step, in the order in which they run. They share `target` and the debug profile, so that nothing is built
/// twice; only `release` builds with another profile.
pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "format",
        about: "rustfmt would change nothing",
        runs: Runs::Always,
        work: Work::Commands(&[
            "cargo fmt --all --check",
            "cargo fmt --all --manifest-path tools/Cargo.toml --check",
            "cargo fmt --all --manifest-path tools/peers/Cargo.toml --check",
        ]),
    },
    Step { name: "tidy", about: "the tree keeps its rules (`cargo xtask tidy`)", runs: Runs::Always, work: Work::Tidy },
    Step {
        name: "clippy",
        about: "no warning in any target, with all features",
        runs: Runs::Always,
        work: Work::Commands(&["cargo clippy --workspace --all-targets --all-features -- -D warnings"]),
    },
    Step {
        name: "test",
        about: "unit, integration, compile-fail, whole-process and documentation tests",
        runs: Runs::Always,
        work: Work::Tests,
    },
    Step {
        name: "packages",
        about: "the crates can be packaged (`cargo package`)",
        runs: Runs::Always,
        work: Work::Packages { build: false },
    },
    Step {
        name: "pages",
        about: "every page of the examples passes the Nu Html Checker (`cargo xtask pages`)",
        runs: Runs::Rest,
        work: Work::Pages,
    },
    Step {
        name: "suites",
        about: "h2spec, sslyze, slowhttptest, wapiti and schemathesis find nothing new in the examples",
        runs: Runs::Rest,
        work: Work::Suites,
    },
    Step {
        name: "long",
        about: "tests that take minutes or measure time: for who changes what they try, on an idle machine",
        runs: Runs::All,
        work: Work::Commands(&[
            "cargo test --workspace --no-fail-fast --lib --tests -- --ignored long:: --test-threads 1",
            "cargo test --workspace --no-fail-fast --test browser --test models-postgres -- --ignored long:: --test-threads 1",
        ]),
    },
    Step {
        name: "release",
        about: "the blog builds as it is deployed, with the release profile",
        runs: Runs::Rest,
        // `skep-wasm`, with its compiler of components, would take ten minutes more, and each other example one or two:
        // they are made of the same parts. Most of it is one thread, and the tests that follow wait for processes most
        // of the time. `suites` was before it, since one of them measures what slow clients cost others.
        work: Work::Beside(&["cargo build --release -p blog"]),
    },
    Step {
        name: "external",
        about: "tests with browsers, memcached, Redis, S3, Java, Node, Go and Python, which `test` ignores",
        runs: Runs::Rest,
        work: Work::Commands(&[
            "cargo test --workspace --no-fail-fast --test backends --test browser --test studio-postgres --test models-postgres",
            // No other package needs it, and an executable cannot turn on features of its own for its tests.
            "cargo test -p skep-dev --bin skep-dev --features tls",
            // `child_process...` is what a test starts, and no test (`tidy`). Those in a module `long` are the step
            // `long`.
            "cargo test --workspace --no-fail-fast --lib --tests -- --ignored --skip litestream --skip long:: --skip child_process",
        ]),
    },
    Step {
        name: "tools",
        about: "the workspace of tools: no warning, its fuzz targets compile, and the unit tests of what needs nothing of Skep's",
        runs: Runs::Rest,
        work: Work::Commands(&[
            "cargo clippy --manifest-path tools/Cargo.toml --workspace --all-targets -- -D warnings",
            "cargo test --manifest-path tools/Cargo.toml --no-fail-fast --lib --bins -p skep-bench -p runner -p articles -p figures",
        ]),
    },
    Step {
        name: "laboratory",
        about: "bench, drills and fuzz targets at work: for who changes them or what they hold against Skep, since they take minutes",
        runs: Runs::All,
        work: Work::Commands(&[
            // The drill of a component starts `skep serve`, which cargo puts beside `skep-drill`. With a test, so
            // that what `cargo test` has compiled has the right features.
            "cargo build --workspace --bin skep --bin skep-wasm --test subcommands",
            "cargo test --manifest-path tools/Cargo.toml --workspace --no-fail-fast",
        ]),
    },
    Step {
        name: "instructions",
        about: "a request to hello has no more instructions than is recorded in tools/instructions.txt: for who changes the path of a request",
        runs: Runs::All,
        work: Work::Instructions,
    },
    Step {
        name: "wasm",
        about: "the examples build as components, and skep is checked with what they do not use of it",
        runs: Runs::Rest,
        work: Work::Commands(&[
            "cargo check -p skep -p skep-people -p skep-jobs -p skep-language -p skep-live -p skep-storage --target wasm32-wasip2 --features skep/openapi,skep-people/oidc,skep-people/passkeys",
            "cargo rustc -p hello --lib --crate-type cdylib --target wasm32-wasip2",
            "cargo rustc -p blog --lib --crate-type cdylib --target wasm32-wasip2",
            "cargo rustc -p helpdesk --lib --crate-type cdylib --target wasm32-wasip2",
            "cargo rustc -p courses --lib --crate-type cdylib --target wasm32-wasip2",
        ]),
    },
    Step {
        name: "docs",
        about: "the documentation and the book build, their links lead somewhere, and the public interface is the recorded one",
        runs: Runs::Rest,
        work: Work::Commands(&["cargo xtask interface", "cargo xtask book"]),
    },
    Step {
        name: "peers",
        about: "the programs that Skep is compared with compile: for who changes them, since they use nothing of ours and their dependencies are locked",
        runs: Runs::All,
        work: Work::Commands(&["cargo check --manifest-path tools/peers/Cargo.toml --workspace"]),
    },
    Step {
        name: "package-builds",
        about: "each package builds from what is in it: for who adds a file that the compiler reads, since it takes as long as a first build of all",
        runs: Runs::All,
        work: Work::Packages { build: true },
    },
    Step {
        name: "replication",
        about: "Litestream replicates a database that is being written: for who changes how SQLite is, since Litestream takes minutes to build",
        runs: Runs::All,
        work: Work::Commands(&["cargo test --workspace --test sql -- --ignored litestream"]),
    },
    Step {
        name: "features",
        about: "each crate compiles without warnings with none of its features and with its default (but those with the compiler of components)",
        runs: Runs::Rest,
        work: Work::Features(Sets::Extremes),
    },
    Step {
        name: "feature-sets",
        about: "each crate compiles with each feature without each other: for who adds a feature, or a `cfg` that names one",
        runs: Runs::All,
        work: Work::Features(Sets::Separating),
    },
    Step {
        name: "msrv",
        about: "the oldest supported Rust compiles the workspace",
        runs: Runs::Rest,
        work: Work::Msrv,
    },
    Step {
        name: "deny",
        about: "dependencies have accepted licences and come from the registry",
        runs: Runs::Rest,
        work: Work::Commands(&["cargo deny check licenses bans sources"]),
    },
    Step {
        name: "advisories",
        about: "no dependency has a known vulnerability; not checked where the database of RustSec cannot be fetched",
        runs: Runs::Rest,
        work: Work::Advisories,
    },
];

/// A line for each step.
pub(crate) fn list() -> String {
    let flags = |runs| match runs {
        Runs::Always => "",
        Runs::Rest => " (--all, --rest)",
        Runs::All => " (--all)",
    };
    let width = STEPS.iter().map(|step| step.name.len()).max().unwrap_or_default();
    let line = |step: &Step| format!("  {:<width$} {}{}", step.name, step.about, flags(step.runs));
    format!("Steps of test:\n{}\n", STEPS.iter().map(line).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_every_step() {
        assert_eq!(list().lines().count(), 1 + STEPS.len());
    }
}
