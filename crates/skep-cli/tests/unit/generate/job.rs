//! Tests of `generate::job`.

use super::*;

#[test]
fn the_crate_of_jobs_is_beside_that_of_skep() {
    let manifest = "[package]\nname = \"shop\"\n\n[dependencies]\nskep = { path = \"../skep/crates/skep\" }\n\n# Less.\n[profile.dev]\n";
    let jobs = "skep-jobs = { path = \"../skep/crates/skep-jobs\"";
    let serde = "serde = { version = \"1\", features = [\"derive\"] }";
    let expected = format!(
        "[package]\nname = \"shop\"\n\n[dependencies]\nskep = {{ path = \"../skep/crates/skep\" }}\n{serde}\n{jobs} }}\n\n# Less.\n[profile.dev]\n\n[dev-dependencies]\n{jobs}, features = [\"test\"] }}\n"
    );
    let changed = depend(manifest).unwrap();
    assert_eq!(changed, expected);
    assert_eq!(depend(&changed).unwrap(), changed);
    assert_eq!(jobs_like("skep = \"0.1\"").unwrap(), "version = \"0.1\"");
    assert_eq!(jobs_like("skep = { version = \"0.1\", features = [\"a\"] }").unwrap(), "version = \"0.1\"");
    for (skep, line) in [
        ("skep = { workspace = true }", "`skep-jobs = { workspace = true }`"),
        ("skep.workspace = true", "`skep-jobs.workspace = true`"),
        ("skep = { git = \"https://example.org/skep\" }", "`skep-jobs = { git = \"https://example.org/skep\" }`"),
    ] {
        assert!(jobs_like(skep).unwrap_err().contains(line), "{skep}");
        let manifest = format!("[dependencies]\n{skep}\n");
        assert!(depend(&manifest).unwrap_err().contains(line));
        let own = format!("{manifest}skep-jobs = \"1\"\n\n[dev-dependencies]\nskep-jobs = \"1\"\n");
        assert!(depend(&own).unwrap().contains("serde"));
    }
}
