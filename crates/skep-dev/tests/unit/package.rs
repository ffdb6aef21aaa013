//! Unit tests of `package`.

use std::ffi::OsString;

use serde_json::json;

use super::*;

fn metadata() -> Value {
    let package = |name: &str, source: Value, bins: &[&str]| {
        let targets: Vec<Value> = bins.iter().map(|bin| json!({ "name": bin, "kind": ["bin"] })).collect();
        json!({ "id": name, "name": name, "source": source, "targets": targets, "default_run": null,
            "manifest_path": format!("/srv/{name}/Cargo.toml") })
    };
    json!({
        "packages": [
            package("shop", Value::Null, &["shop"]),
            package("tools", Value::Null, &["import", "export"]),
            package("shop/admin", Value::Null, &["admin"]),
            package("prices", Value::Null, &[]),
            package("serde", json!("registry"), &[]),
        ],
        "workspace_members": ["shop", "tools", "shop/admin", "prices"],
        "workspace_root": "/srv",
        "target_directory": "/srv/target",
        "resolve": { "nodes": [
            { "id": "shop", "dependencies": ["prices"] },
            { "id": "prices", "dependencies": ["serde", "shop"] },
        ] },
    })
}

fn find(line: &str, here: &str) -> Result<Package, String> {
    let options = Options::read(line.split_whitespace().map(OsString::from)).unwrap().unwrap();
    Package::of(&metadata(), &options, Path::new(here))
}

#[test]
fn the_package_is_that_of_the_folder() {
    let found = |here: &str| find("", here).unwrap().bin;
    assert_eq!([found("/srv/shop"), found("/srv/shop/src"), found("/srv/shop/admin")], ["shop", "shop", "admin"]);
    let shop = find("-p shop", "/srv").unwrap();
    assert_eq!(shop.roots, [Path::new("/srv/shop"), Path::new("/srv/prices")], "what has a path is watched");
    assert_eq!(find("-p tools --bin export", "/srv").unwrap().bin, "export");
}

#[test]
fn what_is_not_clear_is_named() {
    let error = |line, here| find(line, here).unwrap_err();
    assert_eq!(error("", "/srv"), "which package? Name it with -p: shop, tools, shop/admin");
    assert!(error("", "/srv/tools").ends_with("name one of them with --bin: import, export"));
    assert!(error("--bin x", "/srv/shop").ends_with("has no executable \"x\"; it has shop"));
    assert!(error("-p shopp", "/srv").contains("there is shop, tools"));
}
