//! Unit tests of `new`.

use std::collections::BTreeSet;

use super::files::{API, COMMON, IGNORED, MEMBERS, OPEN, PAGES};
use super::manifest::toml_text;
use super::*;
use crate::deployment;

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
        (&["shop", "--sing-in"], "did you mean --sign-in?"),
        (&["shop", "--path"], "--path needs"),
        (&["/"], "is not the name of an application"),
        (&["shop", "--paht=x"], "no flag --paht=x"),
    ] {
        let error = wanted(line).map(drop).unwrap_err();
        assert!(error.contains(says), "{line:?}: {error}");
    }
    assert_eq!(deployment::title("my-shop"), "My shop");
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
    let all = deployment::FILES.iter().chain([&IGNORED]).chain(COMMON).chain(PAGES).chain(OPEN);
    assert_eq!(found, all.map(|(name, _)| (*name).to_owned()).collect());
    let mut found = BTreeSet::new();
    add(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/members"), "", &mut found);
    let has = |name: &String| COMMON.iter().chain(PAGES).any(|(other, _)| other == name);
    found.retain(|name| !name.starts_with("data/") && !["Cargo.toml", "static"].contains(&name.as_str()) && !has(name));
    assert_eq!(found, MEMBERS.iter().map(|(name, _)| (*name).to_owned()).collect());
    let mut found = BTreeSet::new();
    add(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/notes-api"), "", &mut found);
    found
        .retain(|name| !name.starts_with("data/") && !["Cargo.toml", "rustfmt.toml", "src/main.rs"].contains(&&**name));
    assert_eq!(found, API.iter().map(|(name, _)| (*name).to_owned()).collect());
}

/// The list of notes stands elsewhere where the first page leads on.
#[test]
fn notes_are_the_same_with_accounts() {
    let of = |files: &[(&str, &'static str)], name| files.iter().find(|(file, _)| *file == name).unwrap().1;
    let open = of(OPEN, "src/note.rs").replace("#[service(GET \"/\")]", "#[service(GET \"/notes\")]");
    assert_eq!(open, of(MEMBERS, "src/note.rs"));
}

/// Each place that is replaced is there.
#[test]
fn an_application_on_postgres_has_nothing_of_sqlite() {
    for sign_in in [false, true] {
        let (folder, skep) = (PathBuf::from("shop"), PathBuf::from("/clone"));
        let wanted = Wanted { folder, name: "shop".to_owned(), skep, sign_in, api: false, postgres: true };
        let files = wanted.files();
        let of = |name: &str| &files.iter().find(|(file, _)| file == name).unwrap().1;
        assert!(of("tests/support/client.rs").contains("Client::with_setup(app(), setup)"));
        assert!(of("tests/support/client.rs").contains("const DATABASE: &str = \"postgres:"));
        assert!(of("tests/notes.rs").contains("use support::client;"));
        assert!(of("tests/browser.rs").contains(".fix(\"database\", support::database())"));
        assert!(of("tests/support/client.rs").contains("pub(crate) fn database() -> String {"));
        assert!(of(".github/workflows/ci.yml").contains("TEST_DATABASE: postgres://"));
        assert_eq!(of("README.md").contains("`src/account.rs`"), sign_in);
        assert!(of("README.md").contains("createdb shop") && !of("README.md").contains("database.sqlite"));
        assert!(files.iter().all(|(_, text)| !text.contains("autoincrement")));
        assert!(of("Dockerfile").contains("SKEP_DATABASE=postgres://shop:"));
        assert!(of("deploy/skep.toml").contains("SKEP_DATABASE in /etc/shop.env"));
        assert!(of("deploy/shop.service").contains("EnvironmentFile=/etc/shop.env\nExecStart=/srv/shop/shop\n"));
    }
}

#[test]
fn an_interface_has_no_pages() {
    for postgres in [false, true] {
        let (folder, skep) = (PathBuf::from("shop"), PathBuf::from("/clone"));
        let wanted = Wanted { folder, name: "my-shop".to_owned(), skep, sign_in: false, api: true, postgres };
        let files = wanted.files();
        let of = |name: &str| &files.iter().find(|(file, _)| file == name).unwrap().1;
        assert!(of("src/main.rs").contains("use my_shop::app;") && of("README.md").contains("# My shop\n"));
        assert!(files.iter().all(|(file, _)| !file.starts_with("static/") && !file.contains("layout")));
        assert!(files.iter().all(|(_, text)| !text.contains("notes-api") && !text.contains("notes_api")));
        assert_eq!(of("tests/notes.rs").contains("use support::client;"), postgres);
    }
    assert!(wanted(&["shop", "--api", "--sign-in"]).map(drop).unwrap_err().contains("write one of both"));
}

#[test]
fn a_name_with_a_word_of_the_example_in_it_is_put_in_once() {
    for sign_in in [false, true] {
        let name = "my-starter-members".to_owned();
        let (folder, skep) = (PathBuf::from(&name), PathBuf::from("/srv/starter/skep"));
        let wanted = Wanted { folder, name, skep, sign_in, api: false, postgres: false };
        let files = wanted.files();
        let of = |name: &str| &files.iter().find(|(file, _)| file == name).unwrap().1;
        assert!(of("src/main.rs").contains("use my_starter_members::app;"));
        assert!(of("src/layout.rs").contains("\"My starter members\""));
        assert!(of("deploy/nginx.conf").contains("server_name my-starter-members.example.org;"));
        assert!(of("deploy/my-starter-members.service").contains("StateDirectory=my-starter-members\n"));
        assert!(of("Dockerfile").contains("/srv/starter/skep"));
    }
}

#[test]
fn a_path_stands_in_the_manifest_as_it_is() {
    assert_eq!(toml_text(r#"/a b/c"d\e"#), r#""/a b/c\"d\\e""#);
    assert_eq!(toml_text("/a\nb"), r#""/a\u000Ab""#);
}
