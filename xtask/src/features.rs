//! The feature matrix: each crate of the product with none of its features and with its default; and, in a step of its
//! own, with sets of them. In some set each feature is there while another is not, for all pairs of them: what a
//! feature needs of another and does not turn on is an error in that set. A warning is an error, too. The step `clippy`
//! has all features of all crates.
//!
//! A feature that no source of its crate names only turns on those of other crates, and is checked there: it is left
//! out here. The compiler of components would be checked again for each set of features, which takes a minute: the
//! crates that bring it are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

use serde_json::Value;

use crate::command;

/// Checks one target of a package. What clippy knows it says of the whole workspace; here, what is unused or missing is
/// looked for, which the compiler does in half the time. `cargo check` cannot make warnings errors without flags that
/// compile all dependencies again.
const CHECK: &str = "cargo rustc --quiet --profile check";
const DENY: &str = "-- -D warnings";

/// Bring the compiler of components.
const COMPILERS: [&str; 2] = ["skep-isolate", "skep-wasm"];
/// Examples alone, which no other step builds so: what they need of the framework's features they turn on themselves.
const EXAMPLES: [&str; 8] =
    ["axum-html", "axum-sql", "forms", "languages", "members", "notes-api", "starter", "tutorial"];

/// Features, and all that each turns on, itself among them.
type Features = BTreeMap<String, BTreeSet<String>>;

/// Which sets of features of a crate are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sets {
    /// None, and the default.
    Extremes,
    /// Of each two features, in some set one is without the other.
    Separating,
}

/// The commands of the matrix.
pub(crate) fn commands(sets: Sets) -> Result<Vec<String>, String> {
    let said = command::output("cargo", &["metadata", "--no-deps", "--format-version", "1"])?;
    let metadata: Value = serde_json::from_str(&said).map_err(|error| format!("cargo metadata: {error}"))?;
    let mut all = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
        let folder = manifest.parent().unwrap_or(manifest);
        if folder.parent() != Some(&command::root().join("crates")) {
            continue;
        }
        let mut sources = String::new();
        read_all(&folder.join("src"), &mut sources).map_err(|error| format!("{}: {error}", folder.display()))?;
        let target = if folder.join("src/lib.rs").exists() { "--lib" } else { "--bins" };
        let name = package["name"].as_str().unwrap_or_default();
        all.extend(of(name, target, &features(&package["features"]), &sources, sets));
    }
    if sets == Sets::Extremes {
        all.extend(EXAMPLES.map(|name| format!("cargo check --quiet -p {name}")));
    }
    Ok(all)
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

/// The commands for this target of a crate with these features and sources; none if it has no features.
fn of(name: &str, target: &str, features: &Features, sources: &str, sets: Sets) -> Vec<String> {
    let check = format!("{CHECK} -p {name} {target}");
    if features.is_empty() || COMPILERS.contains(&name) {
        return Vec::new();
    }
    let none = format!("{check} --no-default-features {DENY}");
    if sets == Sets::Extremes {
        let default = features.contains_key("default");
        return [none].into_iter().chain(default.then(|| format!("{check} {DENY}"))).collect();
    }
    let named = |feature: &str| sources.contains(&format!("feature = \"{feature}\""));
    let named = features.iter().filter(|(feature, _)| named(feature));
    let named = named.map(|(feature, on)| (feature.clone(), on.clone())).collect();
    let sets = separating(&named).into_iter().map(|set| Vec::from_iter(set).join(","));
    sets.map(|set| format!("{check} --no-default-features --features {set} {DENY}")).collect()
}

/// The features of a package, as cargo tells them.
fn features(told: &Value) -> Features {
    let list = |feature: &str| told[feature].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut features = Features::new();
    for name in told.as_object().into_iter().flat_map(|all| all.keys()) {
        let (mut on, mut left) = (BTreeSet::new(), vec![name.as_str()]);
        while let Some(feature) = left.pop() {
            if told.get(feature).is_some() && on.insert(feature.to_owned()) {
                left.extend(list(feature));
            }
        }
        features.insert(name.clone(), on);
    }
    features
}

/// Few sets of features, of which for each two one has the first without the second, unless the first turns the second
/// on.
fn separating(features: &Features) -> Vec<BTreeSet<&str>> {
    let names = || features.keys().map(String::as_str);
    let pairs = names().flat_map(|with| names().map(move |without| (with, without)));
    let mut left: Vec<_> = pairs.filter(|(with, without)| !features[*with].contains(*without)).collect();
    // A single feature has nothing that it could lack.
    let mut sets = if features.len() == 1 { vec![names().collect()] } else { Vec::new() };
    while let Some(&(first, without)) = left.first() {
        let told = |set: &BTreeSet<&str>| left.iter().filter(|(a, b)| set.contains(a) && !set.contains(b)).count();
        let with = |set: &BTreeSet<&'_ str>, feature: &str| -> BTreeSet<&str> {
            names().filter(|name| set.contains(name) || features[feature].contains(*name)).collect()
        };
        let mut set = with(&BTreeSet::new(), first);
        for feature in names() {
            let larger = with(&set, feature);
            if !larger.contains(without) && told(&larger) > told(&set) {
                set = larger;
            }
        }
        left.retain(|(a, b)| !set.contains(a) || set.contains(b));
        sets.push(set);
    }
    sets
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_feature_is_checked_without_each_other() {
        let named: Vec<String> = (0..12).map(|nth| format!("f{nth:02}")).collect();
        let mut told: serde_json::Map<_, _> = named.iter().map(|name| (name.clone(), json!([]))).collect();
        told.insert("f03".into(), json!(["f04", "dep:x"]));
        let features = features(&told.into());
        assert_eq!(features["f03"].len(), 2);
        let sets = separating(&features);
        assert!(sets.len() <= 8, "{sets:?}");
        for (with, on) in &features {
            for without in features.keys().filter(|name| !on.contains(*name)) {
                let told = |set: &BTreeSet<&str>| set.contains(with.as_str()) && !set.contains(without.as_str());
                assert!(sets.iter().any(told), "{with} without {without}: {sets:?}");
            }
        }
    }

    #[test]
    fn a_crate_is_checked_with_none_with_sets_and_with_its_default() {
        let all = features(&json!({ "default": ["b"], "b": [], "c-d": ["b"], "e": ["f/e"] }));
        let sources = "#[cfg(feature = \"b\")]\n#![cfg(feature = \"c-d\")]\n";
        let none = " --no-default-features";
        let expected = |set: &str| format!("cargo rustc --quiet --profile check -p a --lib{set} -- -D warnings");
        assert_eq!(of("a", "--lib", &all, sources, Sets::Extremes), [expected(none), expected("")]);
        assert_eq!(of("a", "--lib", &all, sources, Sets::Separating), [expected(&format!("{none} --features b"))]);
        assert!(of("a", "--lib", &Features::new(), "", Sets::Separating).is_empty());
        assert!(of("skep-wasm", "--bins", &all, sources, Sets::Extremes).is_empty());
    }
}
