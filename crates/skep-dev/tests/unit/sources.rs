//! Unit tests of `sources`.

use super::*;

/// An application with a library beside it.
fn sources(root: &Path) -> Sources {
    let write = |file: &str, text: &str| {
        let file = root.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    write("shop/src/lib.rs", "skep::assets!(pub Static = \"static/\" at \"/static\");\n// assets!(\"src\")\n");
    write("shop/build.rs", "");
    for file in [
        "shop/static/style.css",
        "shop/static/img/a b.svg",
        "shop/migrations/1.sql",
        "shop/languages/de.ftl",
        "prices/src/lib.rs",
    ] {
        write(file, "");
    }
    let list = "lib.rs build.rs static/style.css static/img/a\\ b.svg migrations migrations/1.sql languages/de.ftl";
    let list: Vec<String> = list
        .replace("\\ ", "\\_")
        .split(' ')
        .map(|file| format!("{}/shop/{}", root.display(), file.replace("lib.rs", "src/lib.rs").replace('_', " ")))
        .collect();
    let noted = format!("{0}/target/debug/shop: {1} {0}/prices/src/lib.rs\n", root.display(), list.join(" "));
    write("target/debug/shop.d", &noted);
    let package = Package {
        bin: "shop".into(),
        manifest: root.join("shop/Cargo.toml"),
        workspace: root.to_owned(),
        target: root.join("target"),
        roots: vec![root.join("shop"), root.join("prices")],
    };
    let mut sources = Sources::new(&package, &root.join("shop"));
    assert_eq!(sources.change(&root.join("shop/src/lib.rs")), Some(Change::Source), "before the first build");
    assert_eq!(sources.change(&root.join("shop/languages/de.ftl")), Some(Change::Source), "nor is it known by then");
    assert_eq!(sources.change(&root.join("shop/data/database.sqlite")), None);
    sources.read(&package, &root.join("target/debug/shop"), true);
    sources
}

#[test]
fn each_file_asks_for_what_it_needs() {
    let folder = tempfile::tempdir().unwrap();
    let sources = sources(folder.path());
    for (file, change) in [
        ("shop/static/style.css", Some(Change::Style)),
        ("shop/static/img/a b.svg", Some(Change::Asset)),
        ("shop/static/new.css", Some(Change::Source)),
        ("shop/src/lib.rs", Some(Change::Source)),
        ("shop/src/new.rs", Some(Change::Source)),
        ("shop/migrations/2.sql", Some(Change::Source)),
        ("shop/languages/de.ftl", Some(Change::Asset)),
        ("shop/languages/fr.ftl", Some(Change::Source)),
        ("shop/Cargo.toml", Some(Change::Source)),
        ("prices/src/lib.rs", Some(Change::Source)),
        ("shop/skep.toml", Some(Change::Settings)),
        ("shop/src/.lib.rs.swp", None),
        ("shop/src/lib.rs~", None),
        ("shop/README.md", None),
        ("shop/data/database.sqlite", None),
        ("shop/shop.log", None),
    ] {
        assert_eq!(sources.change(&folder.path().join(file)), change, "{file}");
    }
    fs::remove_file(folder.path().join("shop/static/style.css")).unwrap();
    let removed = sources.change(&folder.path().join("shop/static/style.css"));
    assert_eq!(removed, Some(Change::Source), "a file that is gone is missing in the executable, too");
}
