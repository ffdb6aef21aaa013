//! What is published can be found and used without this repository: each crate in `crates/` says what it is, has its
//! README, its licences and the meaning of its features, and reads no file from outside of its folder while it is
//! compiled.

use super::Complaint;
use super::source::{Source, Tree};

/// What a manifest says to people who look for a crate.
const KEYS: [&str; 7] = ["description", "keywords", "categories", "version", "edition", "rust-version", "license"];

/// What cargo puts into the package by itself, or because it is there.
const FILES: [&str; 3] = ["README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// What is missing in the crates that are published.
pub(super) fn complaints(tree: &Tree) -> Vec<Complaint> {
    let manifests = tree.sources.iter().filter_map(|source| Some((source, folder(&source.path)?)));
    let published = manifests.filter(|(manifest, _)| !manifest.text.contains("\npublish = false"));
    published.flat_map(|(manifest, folder)| of_crate(manifest, folder, tree)).collect()
}

/// `crates/NAME`, of a manifest there.
fn folder(path: &str) -> Option<&str> {
    let folder = path.strip_suffix("/Cargo.toml")?;
    (folder.starts_with("crates/") && folder.matches('/').count() == 1).then_some(folder)
}

fn of_crate(manifest: &Source, folder: &str, tree: &Tree) -> Vec<Complaint> {
    let has = |key: &&str| {
        let (plain, inherited) = (format!("\n{key} = "), format!("\n{key}.workspace = true"));
        manifest.text.contains(&plain) || manifest.text.contains(&inherited)
    };
    let keys = KEYS.iter().filter(|key| !has(key));
    let keys =
        keys.map(|key| manifest.complaint(1, format!("there is no `{key}`; write it for who looks for a crate")));
    let files = FILES.iter().filter(|file| !tree.paths.contains(&format!("{folder}/{file}")));
    let files = files.map(|file| {
        manifest.complaint(1, format!("{folder}/{file} is missing; write it, or a link to that of the repository"))
    });
    let readme = tree.source(&format!("{folder}/README.md")).map_or("", |readme| readme.text.as_str());
    let source = format!("{folder}/src/");
    let outside = tree.sources.iter().filter(|file| file.path.starts_with(&source)).flat_map(reads_outside);
    keys.chain(files).chain(undocumented(manifest, readme)).chain(outside).collect()
}

/// Features without a comment in the manifest or without a word in the README.
fn undocumented(manifest: &Source, readme: &str) -> Vec<Complaint> {
    let (mut is_feature, mut comment, mut complaints) = (false, false, Vec::new());
    for (number, line) in manifest.lines() {
        let name = line.split(' ').next().unwrap_or_default();
        match line.chars().next() {
            Some('[') => is_feature = line == "[features]",
            Some('#') => comment = true,
            // A comment is of all features up to the next empty line.
            // The rest of a list is indented, or the bracket that ends it.
            Some(' ' | '\t' | ']') => {}
            Some(_) if is_feature && name != "default" => {
                if !comment {
                    complaints
                        .push(manifest.complaint(number, format!("nothing says what `{name}` is; write a comment")));
                }
                if !readme.contains(&format!("`{name}`")) {
                    let text = format!("the crate's README.md does not have `{name}`; say there what it turns on");
                    complaints.push(manifest.complaint(number, text));
                }
            }
            Some(_) => {}
            None => comment = false,
        }
    }
    complaints
}

/// Files that a macro reads, and that are in no package. Tests of documentation are compiled in the repository only.
fn reads_outside(source: &Source) -> Vec<Complaint> {
    if !source.is_rust() || source.is_test() {
        return Vec::new();
    }
    // From the folder of the file to that of the crate.
    let depth = source.path.matches('/').count() - 2;
    let mut before = "";
    let leaves = |line: &str, before: &str| {
        let included = ["include_str!(", "include_bytes!(", "include!("];
        let path = included.iter().find_map(|macro_| line.split_once(macro_)).map(|(_, path)| path);
        // The path may be alone on the next line.
        let path = path.or_else(|| included.iter().any(|macro_| before.ends_with(macro_)).then(|| line.trim_start()));
        let above = "\"".to_owned() + &"../".repeat(depth + 1);
        path.is_some_and(|path| path.starts_with(&above)) || line.contains("\"/../") || line.contains("path: \"../")
    };
    let lines = source.lines().filter(|(_, line)| {
        let leaves = !line.trim_start().starts_with("#[doc") && leaves(line, before);
        before = line;
        leaves
    });
    lines
        .map(|(number, _)| source.complaint(number, "this file is in no package; link to it from the crate's folder"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[package]\nname = \"bee\"\ndescription = \"A bee\"\nkeywords = []\ncategories = []\n\
                            version.workspace = true\nedition.workspace = true\nrust-version.workspace = true\n\
                            license.workspace = true\n\n[features]\n# Makes honey.\nhoney = []\n";

    fn wrong(manifest: &str, readme: &str, source: &str) -> Vec<String> {
        let texts = [
            ("Cargo.toml", manifest),
            ("README.md", readme),
            ("src/a/b.rs", source),
            ("LICENSE-MIT", ""),
            ("LICENSE-APACHE", ""),
        ];
        let sources: Vec<Source> =
            texts.map(|(path, text)| Source::new(format!("crates/bee/{path}"), text)).into_iter().collect();
        let paths = sources.iter().map(|source| source.path.clone()).collect();
        complaints(&Tree { sources, paths }).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_crate_that_is_published_says_what_it_is() {
        assert_eq!(wrong(MANIFEST, "`honey`: makes it", ""), [""; 0]);
        assert_eq!(wrong(&MANIFEST.replace("keywords", "words"), "`honey`", "").len(), 1);
        let features = wrong(&MANIFEST.replace("# Makes honey.\n", ""), "", "");
        assert!(features.len() == 2 && features[0].contains("`honey`"), "{features:?}");
        let several = MANIFEST.replace("honey = []", "honey = [\n    \"dep:flowers\",\n]");
        assert_eq!(wrong(&several, "`honey`", ""), [""; 0]);
        assert_eq!(wrong("[package]\nname = \"bee\"\npublish = false\n", "", ""), [""; 0]);
        let tree = Tree { sources: vec![Source::new("crates/bee/Cargo.toml", MANIFEST)], paths: [].into() };
        assert!(complaints(&tree).iter().any(|one| one.to_string().contains("LICENSE-MIT is missing")));
    }

    #[test]
    fn what_is_compiled_is_in_the_package() {
        let lines = |source| wrong(MANIFEST, "`honey`", source).len();
        assert_eq!(lines("const A: &str = include_str!(\"../../tests/a.txt\");\n"), 0);
        assert_eq!(lines("const A: &str = include_str!(\"../../../a.txt\");\n"), 1);
        assert_eq!(lines("const A: &str = include_str!(\n    \"../../../a.txt\"\n);\n"), 1);
        assert_eq!(lines("#[doc = include_str!(\"../../../../docs/a.md\")]\n"), 0);
        assert_eq!(lines("generate!({ path: \"../../wit\" });\n"), 1);
        assert_eq!(lines("include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/../../a\"))\n"), 1);
    }
}
