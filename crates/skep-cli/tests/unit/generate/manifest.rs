//! Tests of `generate::manifest`.

use super::*;

#[test]
fn the_crate_of_jobs_is_beside_that_of_skep() {
    let manifest = "[package]\nname = \"shop\"\n\n[dependencies]\nskep = { path = \"../skep/crates/skep\" }\n\n# Less.\n[profile.dev]\n";
    let jobs = "skep-jobs = { path = \"../skep/crates/skep-jobs\"";
    let serde = "serde = { version = \"1\", features = [\"derive\"] }";
    let expected = format!(
        "[package]\nname = \"shop\"\n\n[dependencies]\nskep = {{ path = \"../skep/crates/skep\" }}\n{serde}\n{jobs} }}\n\n# Less.\n[profile.dev]\n\n[dev-dependencies]\n{jobs}, features = [\"test\"] }}\n"
    );
    let changed = depend(manifest, "skep-jobs", true).unwrap();
    assert_eq!(changed, expected);
    assert_eq!(depend(&changed, "skep-jobs", true).unwrap(), changed);
    assert_eq!(beside("skep = \"0.1\"", "skep-jobs").unwrap(), "version = \"0.1\"");
    assert_eq!(beside("skep = { version = \"0.1\", features = [\"a\"] }", "skep-jobs").unwrap(), "version = \"0.1\"");
    for (skep, line) in [
        ("skep = { workspace = true }", "`skep-jobs = { workspace = true }`"),
        ("skep.workspace = true", "`skep-jobs.workspace = true`"),
        ("skep = { git = \"https://example.org/skep\" }", "`skep-jobs = { git = \"https://example.org/skep\" }`"),
    ] {
        assert!(beside(skep, "skep-jobs").unwrap_err().contains(line), "{skep}");
        let manifest = format!("[dependencies]\n{skep}\n");
        assert!(depend(&manifest, "skep-jobs", true).unwrap_err().contains(line));
        let own = format!("{manifest}skep-jobs = \"1\"\n\n[dev-dependencies]\nskep-jobs = \"1\"\n");
        assert!(depend(&own, "skep-jobs", true).unwrap().contains("serde"));
    }
    let live = depend(manifest, "skep-live", false).unwrap();
    assert!(live.contains("crates/skep-live\"") && !live.contains("[dev-dependencies]"), "{live}");
    assert_eq!(path_of_skep(manifest), Some("../skep/crates/skep"));
}
