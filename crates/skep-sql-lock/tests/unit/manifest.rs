//! Tests of `manifest`.

use super::*;

#[test]
fn all_spellings_are_read_or_refused() {
    for text in [
        "[package.metadata.skep]\ndatabase = \"postgres\" # it is",
        "[ package . metadata . \"skep\" ]\ndatabase='postgres'",
        "[package.metadata]\nskep.database = \"postgres\"",
        "[package]\nmetadata.skep.database = \"postgres\"",
    ] {
        assert_eq!(dialect(text), Ok(Dialect::Postgres), "{text}");
    }
    for text in
        ["[package.metadata]\nskep = { database = \"postgres\" }", "[package.metadata.skep]\ndatabase = \"mysql\""]
    {
        assert!(dialect(text).unwrap_err().contains("[package.metadata.skep]"), "{text}");
    }
    for text in ["[package.metadata.other]\ndatabase = \"x\"", "[package.metadata.skep]\n# database = \"x\""] {
        assert_eq!(dialect(text), Ok(Dialect::Sqlite), "{text}");
    }
}
