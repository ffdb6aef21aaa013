//! Tests of `db::target`.

use super::*;

fn of(toml: &str, variables: &[(&str, &str)]) -> Target {
    let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    Target::of(Path::new("shop"), toml, find).unwrap()
}

#[test]
fn settings_say_where_it_is() {
    let target = |toml: &str, variables: &[(&str, &str)]| of(toml, variables).to_string();
    assert_eq!(target("", &[]), "shop/data/database.sqlite");
    let settings = "# data = \"a\"\ndata = \"var\" # here\n[mail]\ndata = \"b\"";
    assert_eq!(target(settings, &[]), "shop/var/database.sqlite");
    assert_eq!(target("data = \"var\"", &[("SKEP_DATA", "/srv")]), "/srv/database.sqlite");
    let address = "database = \"postgres://shop:pass%40word@localhost/shop?sslmode=disable\"";
    assert_eq!(target(address, &[]), "postgres://shop@localhost/shop?sslmode=disable");
    assert_eq!(target(address, &[("SKEP_DATABASE", "postgresql:///x")]), "postgres:///x");
}

#[test]
fn a_server_listens_where_the_settings_say() {
    let address = "database = \"postgres:///x?host=/run\"\n";
    assert_eq!(of(address, &[]).control, Path::new("shop/data/control"));
    assert_eq!(of(&format!("{address}control = '/run/a'"), &[]).control, Path::new("/run/a"));
    assert_eq!(of("data = 'var'", &[("SKEP_CONTROL", "c")]).control, Path::new("shop/c"));
}

#[test]
fn data_is_changed_only_in_development_and_only_here() {
    let refused = |toml: &str, variables| of(toml, variables).may_change("seed").err().unwrap_or_default();
    assert_eq!(refused("development = true # for now", &[]), "");
    assert_eq!(refused("", &[("SKEP_DEVELOPMENT", "true")]), "");
    for toml in ["", "development = false", "# development = true", "[log]\ndevelopment = true"] {
        assert!(refused(toml, &[]).contains("no `development = true`"), "{toml}");
    }
    assert!(refused("development = true", &[("SKEP_DEVELOPMENT", "false")]).contains("is for development"));
    let elsewhere = "development = true\ndatabase = 'postgres://db.example.org/shop'";
    assert!(refused(elsewhere, &[]).contains("changes no data elsewhere"));
}
