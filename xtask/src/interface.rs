//! The public interface: what `xtask/interface` has on record must be what rustdoc shows of the crates that
//! applications name, with all features.
//!
//! `cargo semver-checks` and `cargo public-api` compare with a release, which does not exist yet, and read rustdoc's
//! JSON, which stable Rust does not write. With a record in the tree, a change of the interface is a line of the commit
//! that makes it. It is read from the pages that the step `docs` builds anyway: so it knows what macros and `pub use`
//! make, and has nothing that is hidden from documentation.

mod page;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::command;

/// Crates that applications name; the others are theirs, and pinned to the same version.
const CRATES: [&str; 11] = [
    "skep",
    "skep-cache",
    "skep-fluent",
    "skep-html",
    "skep-jobs",
    "skep-language",
    "skep-live",
    "skep-people",
    "skep-server",
    "skep-sql",
    "skep-storage",
];

/// Two packages have a library `axum_sql`, and two `courses`; the command `skep` would overwrite the pages of the
/// library, as `--bins` asks for it although its manifest says `doc = false`. One by one, see [`make_folders`]. With an
/// example, and with the features of the step `clippy`: what that has checked has the right features, then.
const DOCUMENT: &str = "cargo doc --jobs 1 --workspace --exclude axum-sql --exclude axum-sql-postgres \
    --exclude courses --exclude courses-postgres --exclude skep-cli --no-deps --lib --bins --example configuration \
    --all-features";

/// Its flags, in the variable that, unlike `RUSTFLAGS`, rebuilds nothing but documentation.
const FLAGS: (&str, &str) = ("RUSTDOCFLAGS", "-D warnings");

/// Compares, or writes the record.
pub(crate) fn run(write: bool) -> Result<ExitCode, String> {
    make_folders()?;
    let mut cargo = command::program("cargo");
    let words = DOCUMENT.split_whitespace().skip(1);
    let status = cargo.args(words).env(FLAGS.0, FLAGS.1).status();
    if !status.map_err(|error| format!("cargo does not start: {error}"))?.success() {
        return Ok(ExitCode::FAILURE);
    }
    let (toolchain, ours) = (record("rustdoc"), command::output("rustc", &["--version"])?);
    if write {
        fs::create_dir_all(toolchain.with_file_name("")).map_err(|error| error.to_string())?;
        fs::write(&toolchain, &ours).map_err(|error| format!("{}: {error}", toolchain.display()))?;
    }
    let recorded = fs::read_to_string(&toolchain).map_err(|error| format!("{}: {error}", toolchain.display()))?;
    if recorded.trim() != ours.trim() {
        // Another rustdoc may write the same in other words.
        println!("not compared: the record is of {}, and this is {}", recorded.trim(), ours.trim());
        return Ok(ExitCode::SUCCESS);
    }
    let mut differs = false;
    for name in CRATES {
        let (file, now) = (record(name), interface(name)?);
        let before = fs::read_to_string(&file).unwrap_or_default();
        if write {
            fs::write(&file, &now).map_err(|error| format!("{}: {error}", file.display()))?;
        }
        let changes = changes(&before, &now);
        for change in &changes {
            println!("{change}");
        }
        differs |= !changes.is_empty();
    }
    if differs && !write {
        println!("the interface is another one: if that is meant, `cargo xtask interface --write`, and CHANGELOG.md");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// A folder for each of our crates. rustdoc links to those crates that have one when it begins, and cargo removes that
/// of a crate before: else it would depend on their order where an item of another crate leads.
fn make_folders() -> Result<(), String> {
    let (crates, pages) = (command::root().join("crates"), command::root().join("target/doc"));
    let error = |error| format!("{}: {error}", pages.display());
    let names = fs::read_dir(&crates).map_err(error)?.flatten();
    let folders =
        names.map(|name| pages.join(name.file_name().to_string_lossy().replace('-', "_"))).collect::<Vec<_>>();
    if folders.iter().all(|folder| folder.is_dir()) {
        return Ok(());
    }
    // Made before, in whatever order.
    if pages.is_dir() {
        fs::remove_dir_all(&pages).map_err(error)?;
    }
    folders.iter().try_for_each(fs::create_dir_all).map_err(error)
}

/// The file with what is recorded of a crate.
fn record(name: &str) -> PathBuf {
    command::root().join("xtask/interface").join(format!("{name}.txt"))
}

/// A line for each item, method and implementation of a crate.
fn interface(name: &str) -> Result<String, String> {
    let folder = command::root().join("target/doc").join(name.replace('-', "_"));
    let read = |file: &str| {
        let path = folder.join(file);
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let crate_name = name.replace('-', "_");
    let mut lines = BTreeSet::new();
    for file in page::items(&read("all.html")?) {
        lines.extend(page::lines(&crate_name, &file, &read(&file)?));
    }
    let mut modules = vec!["index.html".to_owned()];
    while let Some(file) = modules.pop() {
        let (html, inside) = (read(&file)?, file.trim_end_matches("index.html"));
        let module = format!("{crate_name}::{}", inside.replace('/', "::"));
        lines.extend(page::reexports(module.trim_end_matches(':'), &html));
        modules.extend(page::modules(&html).map(|link| format!("{inside}{link}")));
    }
    if lines.is_empty() {
        return Err(format!("rustdoc's pages of {name} cannot be read: does it write others now?"));
    }
    Ok(lines.into_iter().flat_map(|line| [line, "\n".to_owned()]).collect())
}

/// Lines that are gone, and lines that are new.
fn changes(before: &str, now: &str) -> Vec<String> {
    let (old, new): (BTreeSet<&str>, BTreeSet<&str>) = (before.lines().collect(), now.lines().collect());
    let gone = old.difference(&new).map(|line| format!("- {line}"));
    gone.chain(new.difference(&old).map(|line| format!("+ {line}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_a_line_that_is_gone_and_one_that_is_new() {
        assert_eq!(changes("a\nb\n", "b\nc\n"), ["- a", "+ c"]);
        assert!(changes("a\nb\n", "a\nb\n").is_empty());
    }

    #[test]
    fn every_crate_has_a_record() {
        assert!(record("rustdoc").is_file(), "`cargo xtask interface --write`");
        for name in CRATES {
            assert!(record(name).is_file(), "{name}: `cargo xtask interface --write`");
            assert!(command::root().join("crates").join(name).is_dir(), "{name}");
        }
    }
}
