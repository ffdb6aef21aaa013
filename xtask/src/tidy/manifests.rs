//! Which crate may name which: the arrows of ARCHITECTURE.md, read from the Cargo manifests.

use super::Complaint;
use super::source::Source;

/// A crate, and the crates of ours that it may name, also in its tests. What is not in the table may name none.
/// An upper line never names a lower one.
const ARROWS: &[(&str, &[&str])] = &[
    ("skep-units", &[]),
    ("skep-settings", &["skep-units"]),
    ("skep-sql-lock", &[]),
    // What tests need, in `crates/testing`: an HTTP client, a PostgreSQL, and an application that fails when it is
    // asked to, with what kills its server.
    ("skep-client", &[]),
    ("skep-cluster", &[]),
    ("skep-drill", &["skep", "skep-units", "skep-server", "skep-client"]),
    ("xtask", &["skep-client"]),
    ("skep-macros", &["skep-units"]),
    ("skep-html-macros", &["skep-units"]),
    // It is useful without `skep`, as `skep-sql` is.
    ("skep-html", &["skep-html-macros"]),
    ("skep-sql-macros", &["skep-sql-lock", "skep-units"]),
    ("skep-cache", &["skep-units"]),
    // It is useful without `skep`, and its tests and examples do without, too.
    ("skep-sql", &["skep-units", "skep-sql-lock", "skep-sql-macros", "skep-cache", "skep-cluster"]),
    // Its examples, which the documentation of `skep` shows, are of applications.
    ("skep-http", &["skep-units", "skep-settings", "skep-html", "skep-sql", "skep-cache", "skep"]),
    (
        "skep",
        &[
            "skep-units",
            "skep-settings",
            "skep-macros",
            "skep-html",
            "skep-html-macros",
            "skep-http",
            "skep-sql",
            "skep-sql-macros",
            "skep-cache",
            "skep-cluster",
        ],
    ),
    ("skep-people", &["skep", "skep-macros", "skep-units", "skep-cache", "skep-cluster"]),
    ("skep-jobs", &["skep", "skep-units", "skep-server", "skep-drill", "skep-cluster", "skep-live"]),
    ("skep-live", &["skep", "skep-units", "skep-server", "skep-drill", "skep-cluster"]),
    ("skep-storage", &["skep", "skep-units", "skep-server", "skep-drill", "skep-client", "skep-cluster"]),
    // It is useful without `skep`, and is in the macros, too.
    ("skep-fluent", &["skep-units"]),
    ("skep-language-macros", &["skep-fluent"]),
    ("skep-language", &["skep", "skep-fluent", "skep-language-macros"]),
    ("skep-observe", &["skep", "skep-settings", "skep-units"]),
    (
        "skep-server",
        &["skep", "skep-observe", "skep-settings", "skep-units", "skep-drill", "skep-client", "skep-cluster"],
    ),
    (
        "skep-isolate",
        &[
            "skep",
            "skep-settings",
            "skep-units",
            "skep-cache",
            "skep-server",
            "skep-isolate-app",
            "skep-client",
            "skep-cli-hives",
            "skep-cluster",
        ],
    ),
    ("skep-isolate-app", &["skep"]),
    ("skep-wasm", &["skep-server", "skep-isolate"]),
    ("skep-top", &["skep-units", "skep-server", "skep-drill"]),
    // It is in front of an application, and knows no crate of the framework.
    ("skep-dev", &["skep-units"]),
    ("skep-cli", &["skep-sql-lock", "skep-units", "skep-cluster"]),
];

/// Examples stand at the lower end and may name whom they like.
const EXAMPLES: &str = "examples/";

/// Runtimes and sockets: in `skep`, `skep-http`, `skep-people` and `skep-sql`, requests come from the server. Names
/// that begin so, except in tests. The test client has a runtime (`tokio` itself), which `invariants` sees that nothing
/// else uses.
const NOT_IN_SKEP: [&str; 6] = ["tokio-", "hyper", "async-std", "smol", "mio", "socket2"];

/// One line of a manifest that names another crate.
struct Dependency<'a> {
    name: &'a str,
    line: usize,
    for_tests: bool,
}

/// No dependency runs against the arrows.
pub(super) fn arrows(source: &Source) -> Vec<Complaint> {
    if !is_of_a_crate(source) {
        return Vec::new();
    }
    let package = package(source);
    let complain = |dependency: Dependency<'_>| {
        let text = wrong(source, package, &dependency)?;
        Some(source.complaint(dependency.line, text))
    };
    dependencies(source).filter_map(complain).collect()
}

fn wrong(source: &Source, package: &str, dependency: &Dependency<'_>) -> Option<String> {
    let name = dependency.name;
    let is_ours = name == "skep" || name.starts_with("skep-");
    let allowed = ARROWS.iter().find(|(of, _)| *of == package).map_or(&[][..], |(_, allowed)| allowed);
    // For its tests, a crate names itself: that is how they get a feature that is off by default.
    let is_itself = name == package && dependency.for_tests;
    if is_ours && !is_itself && !source.path.starts_with(EXAMPLES) && !allowed.contains(&name) {
        let allowed = if allowed.is_empty() { "none of ours".to_owned() } else { allowed.join(", ") };
        return Some(format!("{package} names {name}; it may name {allowed} (ARCHITECTURE.md has the arrows)"));
    }
    if name.starts_with("wasmtime") && package != "skep-isolate" {
        return Some(format!("{package} names {name}; wasmtime takes minutes to build and lives in skep-isolate only"));
    }
    // What the driver of PostgreSQL has, with a feature that is off.
    let is_postgres = package == "skep-sql" && ["tokio-postgres", "tokio-rustls"].contains(&name);
    if ["skep", "skep-http", "skep-people", "skep-sql"].contains(&package)
        && !dependency.for_tests
        && !is_postgres
        && NOT_IN_SKEP.iter().any(|prefix| name.starts_with(prefix))
    {
        return Some(format!(
            "{package} names {name}; it opens no socket and drives no future: that is skep-server's part"
        ));
    }
    None
}

/// Every crate takes the workspace's lints, among them the one that refuses `unsafe`.
pub(super) fn lints(source: &Source) -> Vec<Complaint> {
    let inherits =
        || source.text.split("[lints]").nth(1).is_some_and(|rest| rest.trim_start().starts_with("workspace = true"));
    if !is_of_a_crate(source) || inherits() {
        return Vec::new();
    }
    vec![source.complaint(1, "the crate has lints of its own; `[lints] workspace = true` takes everybody's")]
}

/// A crate of the product; `tools` is a workspace of its own.
fn is_of_a_crate(source: &Source) -> bool {
    source.path.ends_with("/Cargo.toml")
        // Programs that tests build, for another target.
        && !source.path.contains("/tests/")
        && ["crates/", "examples/", "xtask/"].iter().any(|top| source.path.starts_with(top))
}

fn package(source: &Source) -> &str {
    let line = source.text.lines().find_map(|line| line.strip_prefix("name = \""));
    line.and_then(|rest| rest.split('"').next()).unwrap_or_default()
}

/// Both forms: a key under `[dependencies]`, and a section `[dependencies.name]`; of every kind and for every target.
fn dependencies(source: &Source) -> impl Iterator<Item = Dependency<'_>> {
    let mut section = "";
    source.lines().filter_map(move |(number, line)| {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
            let (kind, name) = section.rsplit_once('.')?;
            return kind.ends_with("dependencies").then(|| dependency(name, number, kind));
        }
        let is_key = section.ends_with("dependencies") && !line.is_empty() && !line.starts_with('#');
        is_key.then(|| dependency(line, number, section))
    })
}

fn dependency<'a>(line: &'a str, number: usize, section: &str) -> Dependency<'a> {
    // `name = { package = "other" }` names `other`.
    let renamed = line.split_once("package = \"").and_then(|(_, rest)| rest.split('"').next());
    let key = line.split(['.', '=', ' ']).next().unwrap_or_default().trim_matches('"');
    Dependency { name: renamed.unwrap_or(key), line: number, for_tests: section.ends_with("dev-dependencies") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    fn complaints(package: &str, rest: &str) -> Vec<usize> {
        let text = format!("[package]\nname = \"{package}\"\n\n{rest}\n");
        lines(arrows, &format!("crates/{package}/Cargo.toml"), &text)
    }

    #[test]
    fn a_lower_line_may_name_an_upper_one_only() {
        assert_eq!(complaints("skep", "[dependencies]\nskep-macros.workspace = true"), [0; 0]);
        assert_eq!(complaints("skep", "[dependencies]\nskep-server.workspace = true"), [5]);
        assert_eq!(complaints("skep-cache", "[dev-dependencies]\nskep = { path = \"../skep\" }"), [5]);
        assert_eq!(complaints("skep", "[dev-dependencies]\nskep = { path = \".\" }"), [0; 0]);
        assert_eq!(complaints("skep-new", "[dependencies]\nskep.workspace = true"), [5]);
    }

    #[test]
    fn examples_may_name_all_but_wasmtime() {
        let text = "[package]\nname = \"blog\"\n[dependencies]\nskep-server = \"1\"\nwasmtime = \"48\"\n";
        assert_eq!(lines(arrows, "examples/blog/Cargo.toml", text), [5]);
    }

    #[test]
    fn skep_has_a_runtime_in_its_tests_only() {
        assert_eq!(complaints("skep", "[dev-dependencies]\ntokio.workspace = true"), [0; 0]);
        assert_eq!(complaints("skep", "[dependencies]\ntokio.workspace = true"), [0; 0], "for the test client");
        assert_eq!(complaints("skep", "[dependencies.tokio-stream]\nversion = \"1\""), [4]);
        assert_eq!(complaints("skep", "[target.'cfg(unix)'.dependencies]\nhyper-util = \"1\""), [5]);
        assert_eq!(complaints("skep-server", "[dependencies]\ntokio.workspace = true"), [0; 0]);
    }

    #[test]
    fn another_name_hides_nothing() {
        assert_eq!(complaints("skep", "[dependencies]\nrt = { package = \"tokio-util\", version = \"1\" }"), [5]);
    }

    #[test]
    fn every_crate_takes_the_lints_of_the_workspace() {
        assert_eq!(lines(lints, "crates/skep/Cargo.toml", "[package]\n\n[lints]\nworkspace = true\n"), [0; 0]);
        assert_eq!(lines(lints, "crates/skep/Cargo.toml", "[package]\n"), [1]);
        assert_eq!(lines(lints, "tools/runner/Cargo.toml", "[package]\n"), [0; 0]);
    }
}
