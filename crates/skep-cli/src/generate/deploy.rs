//! `skep gen deploy`: the files with which an application is deployed, as `skep new` writes them.

use std::path::{Path, PathBuf};

use super::manifest;
use super::package::Package;
use super::plan::Plan;
use crate::deployment::Deployment;

/// Plans those of the files that are not there.
pub(super) fn deploy(plan: &mut Plan<'_>, package: &Package) -> Result<(), String> {
    if package.workspace != package.root {
        return Err(format!(
            "the package is a part of the workspace {}, which an image is built from: in its folder, a Dockerfile has to \
             name what it copies",
            package.workspace.display()
        ));
    }
    let cargo = package.read("Cargo.toml")?;
    let clone = manifest::path_of_skep(&cargo).map(clone_of).transpose()?;
    let deployment = Deployment { name: package.executable()?, clone, dialect: package.dialect };
    let (there, missing): (Vec<_>, Vec<_>) = deployment.files().into_iter().partition(|(file, _)| package.has(file));
    if missing.is_empty() {
        return Err(format!("{}: all files are there, and nothing is overwritten", names(&there)));
    }
    if !there.is_empty() {
        println!("{}: there already, and not changed\n", names(&there));
    }
    missing.iter().try_for_each(|(file, text)| plan.create(file, text))
}

fn names(files: &[(String, String)]) -> String {
    files.iter().map(|(file, _)| file.as_str()).collect::<Vec<_>>().join(", ")
}

/// The clone of Skep in which a crate is: `../skep` for `../skep/crates/skep`.
fn clone_of(path: &str) -> Result<PathBuf, String> {
    let clone = Path::new(path).ancestors().nth(2).filter(|_| path.ends_with("crates/skep"));
    clone.map(Path::to_owned).ok_or_else(|| format!("skep = {{ path = \"{path}\" }}: it is not in a clone of Skep"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clone_is_where_the_manifest_says() {
        assert_eq!(clone_of("../skep/crates/skep"), Ok("../skep".into()));
        assert_eq!(clone_of("/srv/skep/crates/skep"), Ok("/srv/skep".into()));
        assert!(clone_of("../skep").is_err());
    }
}
