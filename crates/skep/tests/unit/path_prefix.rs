//! Tests of `path_prefix`.

use super::*;

#[test]
fn a_prefix_holds_every_spelling_of_its_paths() {
    let admin = PathPrefix(vec!["admin".into()]);
    for path in [
        "/admin",
        "/admin/",
        "/admin/x",
        "//admin",
        "/%61dmin/x",
        "/./admin",
        "/x/../admin",
        "/admin%2Fx",
        "/admin/../x",
    ] {
        assert!(admin.holds(path), "{path}");
    }
    for path in ["/", "/admins", "/x/admin", "/%61dmins"] {
        assert!(!admin.holds(path), "{path}");
    }
    for (path, is_below) in
        [("/admin", true), ("/admin/x", true), ("/admin%2Fx", false), ("/x%2F..%2Fadmin", false), ("//admin", false)]
    {
        assert_eq!(admin.begins_literally(path), is_below, "{path}");
    }
}
