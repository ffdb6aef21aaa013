//! Unit tests of `setup`.

use super::*;

#[test]
fn a_component_keeps_every_limit_but_those_of_the_hosts_store() {
    // All fields, so that a new one is missed here.
    let limits = Limits {
        counters: Limits::default().counters,
        body: 1,
        bodies: 2,
        form_fields: 3,
        form_rows: 4,
        once: 5,
        once_per_address: 6,
        page: 7,
        page_variants: 8,
        query_parameters: 9,
        session: 10,
        sessions: Limits::default().sessions,
        sessions_per_address: 11,
        session_store: Limits::default().session_store,
        user_sessions: 12,
        upload_file: 13,
        upload_total: 14,
        upload_quota: 15,
    };
    let environment = limits.to_environment();
    let of = |name: &str| environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let mut read = Limits::default();
    read.read_environment(of).unwrap();
    assert_eq!(read, limits);
    let wrong = |name: &str| (name == "SKEP_LIMIT_BODY").then(|| "much".to_owned());
    assert_eq!(read.read_environment(wrong).unwrap_err(), "SKEP_LIMIT_BODY=\"much\" is no number");
}
