//! The packages that are published: `cargo package` makes them, and may build each from what is in it and in the
//! others, which takes as long as all of Skep.

use serde_json::Value;

use crate::command;

/// Says nothing of missing addresses: there is no public one yet, and `tidy` looks at the rest of the metadata.
const PACKAGE: &str = "cargo package --allow-dirty --no-metadata";

/// The command that makes them, without building them.
pub(crate) fn make() -> Result<String, String> {
    // A lock file would be of the registry's index: what is asked here is which files there are.
    Ok(format!("{PACKAGE} --quiet --no-verify --exclude-lockfile {}", list(&names()?)))
}

/// The command that makes and builds them.
pub(crate) fn build() -> Result<String, String> {
    Ok(format!("{PACKAGE} {}", list(&names()?)))
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("-p {name}")).collect::<Vec<_>>().join(" ")
}

/// The packages of the workspace that may be published.
fn names() -> Result<Vec<String>, String> {
    let told = command::output("cargo", &["metadata", "--no-deps", "--format-version", "1"])?;
    let metadata: Value = serde_json::from_str(&told).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let published = packages.filter(|package| package["publish"].is_null());
    Ok(published.filter_map(|package| package["name"].as_str()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_product_is_published_and_nothing_else() {
        let names = names().unwrap();
        let has = |name: &str| names.iter().any(|other| other == name);
        assert!(has("skep") && has("skep-cli") && has("skep-units"), "{names:?}");
        assert!(!has("xtask") && !has("blog") && !has("skep-client"), "{names:?}");
    }
}
