//! Unit tests of `table`.

use super::*;
use crate::options::Options;

fn application(name: &str, hosts: &[&str], prefix: &str) -> Arc<Application> {
    let hosts = hosts.iter().map(ToString::to_string).collect();
    let options = Options { name: name.into(), hosts, prefix: crate::prefix::prefix(prefix), ..Options::default() };
    Arc::new(Application::new(options))
}

fn found(table: &Table, host: &str, path: &str) -> String {
    let request = http::Request::get(path).header(HOST, host).body(()).unwrap();
    table.find(&request.into_parts().0).map_or_else(String::new, |found| found.options.name.clone())
}

#[test]
fn the_most_specific_application_answers() {
    let table = Table::new(
        vec![
            application("all", &[], "/"),
            application("shop", &[], "/shop/"),
            application("org", &["example.org"], "/"),
            application("below", &["*.example.org"], "/"),
            application("admin", &["example.org"], "/admin"),
        ],
        None,
    );
    let table = table.unwrap();
    assert_eq!(found(&table, "localhost:8800", "/"), "all");
    assert_eq!(found(&table, "localhost", "/shop"), "shop");
    assert_eq!(found(&table, "localhost", "/shopping"), "all");
    assert_eq!(found(&table, "Example.ORG:443", "/shop/1"), "org");
    assert_eq!(found(&table, "a.example.org", "/shop/1"), "below");
    assert_eq!(found(&table, ".example.org", "/"), "all");
    assert_eq!(found(&table, "example.org", "/admin/users"), "admin");
    assert_eq!(found(&table, "[::1]:80", "/"), "all");
}

#[test]
fn another_name_of_an_application_says_nothing() {
    let one = application("one", &["a.org", "*.b.org"], "/");
    let other = application("other", &["x.b.org"], "/");
    let deep = application("deep", &["*.c.b.org"], "/");
    for order in [[&one, &other, &deep], [&deep, &other, &one]] {
        let table = Table::new(order.map(Arc::clone).to_vec(), None).unwrap();
        assert_eq!(found(&table, "x.b.org", "/"), "other", "an exact name");
        assert_eq!(found(&table, "y.b.org", "/"), "one");
        assert_eq!(found(&table, "y.c.b.org", "/"), "deep", "the longer pattern");
    }
}

#[test]
fn two_in_one_place_are_refused_by_name() {
    let refused = |one, other| Table::new(vec![one, other], None).map(drop).unwrap_err().to_string();
    let error = refused(application("a", &[], "/"), application("b", &[], "/"));
    assert!(error.starts_with("a and b both answer at every host, /"), "{error}");
    let error = refused(application("a", &["x", "y"], "/p"), application("b", &["y"], "/p"));
    assert!(error.starts_with("a and b both answer at y/p/"), "{error}");
    assert!(Table::new(vec![application("a", &["x"], "/"), application("b", &[], "/")], None).is_ok());
}
