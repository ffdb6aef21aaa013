//! Unit tests of `new`.

use std::collections::BTreeSet;

use super::*;

fn wanted(arguments: &[&str]) -> Result<Option<Wanted>, String> {
    read(arguments.iter().map(OsString::from).collect())
}

#[test]
fn names_that_are_no_packages_are_refused() {
    for name in ["shop", "my-shop", "shop_2"] {
        assert_eq!(check(name), Ok(()), "{name}");
    }
    for name in [
        "",
        "Shop",
        "2shop",
        "my shop",
        "schön",
        "-x",
        "a.b",
        "my--shop",
        "shop-",
        "skep",
        "skep_server",
        "std",
        "match",
        "gen",
    ] {
        assert!(check(name).is_err(), "{name}");
    }
}

#[test]
fn a_wrong_command_line_says_what_is_wrong() {
    assert!(wanted(&["--help"]).unwrap().is_none());
    for (line, says) in [
        (&[][..], "which folder?"),
        (&["shop", "other"], "one folder at a time"),
        (&["shop", "--sign-in"], "no flag --sign-in"),
        (&["shop", "--path"], "--path needs"),
        (&["/"], "is not the name of an application"),
        (&["shop", "--paht=x"], "no flag --paht=x"),
    ] {
        let error = wanted(line).map(drop).unwrap_err();
        assert!(error.contains(says), "{line:?}: {error}");
    }
    assert_eq!(wanted(&["apps/my-shop"]).unwrap().unwrap().title(), "My shop");
}

/// Every file of the example is a file of the application; its manifest is another one.
#[test]
fn nothing_of_the_example_is_left_out() {
    fn add(folder: &Path, below: &str, found: &mut BTreeSet<String>) {
        for entry in folder.read_dir().unwrap().map(Result::unwrap) {
            let name = format!("{below}{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                add(&entry.path(), &format!("{name}/"), found);
            } else {
                found.insert(name);
            }
        }
    }
    let mut found = BTreeSet::new();
    add(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/starter"), "", &mut found);
    found.retain(|name| !name.starts_with("data/") && name != "Cargo.toml");
    assert_eq!(found, FILES.iter().map(|(name, _)| (*name).to_owned()).collect());
}

#[test]
fn a_path_stands_in_the_manifest_as_it_is() {
    assert_eq!(toml_text(r#"/a b/c"d\e"#), r#""/a b/c\"d\\e""#);
    assert_eq!(toml_text("/a\nb"), r#""/a\u000Ab""#);
}
