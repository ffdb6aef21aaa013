//! The feature matrix: each crate of the product with each of its features alone, with none and with its default, and each example alone. A
//! warning is an error, but in an example: the step `clippy` has those. It has all features of all crates, too.
//!
//! A feature that no source of its crate names only turns on those of other crates, and is checked there: alone it is left out.
//! The compiler of components is checked again for each set of features, which takes a minute: `skep` is checked without it, and the crate
//! that brings it is left out.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::command;

/// Checks one target of a package. What clippy knows it says of the whole workspace; here, what is unused or missing is looked for, which
/// the compiler does in half the time. `cargo check` cannot make warnings errors without flags that compile all dependencies again.
const CHECK: &str = "cargo rustc --quiet --profile check";
const DENY: &str = "-- -D warnings";

/// Brings the compiler of components.
const COMPILER: &str = "skep-isolate";
/// Has it by default.
const WITH_COMPILER: &str = "skep-cli";

/// The commands of the matrix.
pub(crate) fn commands() -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    for folder in packages("crates")? {
        let (manifest, mut sources) = (folder.join("Cargo.toml"), String::new());
        let text = fs::read_to_string(&manifest).map_err(|error| format!("{}: {error}", manifest.display()))?;
        read_all(&folder.join("src"), &mut sources).map_err(|error| format!("{}: {error}", folder.display()))?;
        let target = if folder.join("src/lib.rs").exists() { "--lib" } else { "--bins" };
        all.extend(of(&text, target, &sources));
    }
    let names = packages("examples")?;
    let names = names.iter().filter_map(|folder| folder.file_name()?.to_str());
    all.extend(names.map(|name| format!("cargo check --quiet -p {name}")));
    Ok(all)
}

/// The folders of packages in this folder, in order.
fn packages(parent: &str) -> Result<Vec<PathBuf>, String> {
    let parent = command::root().join(parent);
    let entries = fs::read_dir(&parent).map_err(|error| format!("{}: {error}", parent.display()))?;
    let folders = entries.flatten().map(|entry| entry.path());
    let mut folders: Vec<_> = folders.filter(|folder| folder.join("Cargo.toml").is_file()).collect();
    folders.sort();
    Ok(folders)
}

/// Adds the texts of all files below a folder.
fn read_all(folder: &Path, texts: &mut String) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_all(&path, texts)?;
        } else {
            texts.push_str(&fs::read_to_string(path)?);
        }
    }
    Ok(())
}

/// The commands for this target of the crate with this manifest and these sources; none if it has no features.
fn of(manifest: &str, target: &str, sources: &str) -> Vec<String> {
    let name = manifest.lines().find_map(|line| line.strip_prefix("name = \"")).unwrap_or_default();
    let name = name.trim_end_matches('"');
    let check = format!("{CHECK} -p {name} {target}");
    let features = features(manifest);
    if features.is_empty() || name == COMPILER {
        return Vec::new();
    }
    if name == WITH_COMPILER {
        return vec![format!("{check} --no-default-features {DENY}")];
    }
    let named = features.iter().filter(|feature| sources.contains(&format!("feature = \"{feature}\"")));
    let alone = named.map(|feature| format!("{check} --no-default-features --features {feature} {DENY}"));
    let none = format!("{check} --no-default-features {DENY}");
    [none].into_iter().chain(alone).chain([format!("{check} {DENY}")]).collect()
}

fn features(manifest: &str) -> Vec<&str> {
    let lines = manifest.lines().skip_while(|line| *line != "[features]").skip(1);
    let keys = lines.take_while(|line| !line.starts_with('[')).filter(|line| line.starts_with(char::is_alphabetic));
    keys.filter_map(|line| line.split([' ', '=']).next()).filter(|feature| *feature != "default").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_feature_is_checked_alone() {
        let manifest = "[package]\nname = \"a\"\n[features]\n# Why.\ndefault = [\"b\"]\nb = []\nc-d = [\n  \"b\",\n]\ne = [\"f/e\"]\n[lints]\n";
        let sources = "#[cfg(feature = \"b\")]\n#![cfg(feature = \"c-d\")]\n";
        let none = " --no-default-features";
        let sets = [none, &format!("{none} --features b"), &format!("{none} --features c-d"), ""];
        let expected = sets.map(|set| format!("cargo rustc --quiet --profile check -p a --lib{set} -- -D warnings"));
        assert_eq!(of(manifest, "--lib", sources), expected);
        assert!(of("[package]\nname = \"a\"\n", "--lib", "").is_empty());
        let heavy = "[package]\nname = \"skep-cli\"\n[features]\na = []\n";
        assert_eq!(of(heavy, "--bins", "feature = \"a\"").len(), 1);
    }
}
