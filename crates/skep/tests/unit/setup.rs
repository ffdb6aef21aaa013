//! Unit tests of `setup`.

use skep_settings::Group;

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
    let environment = limits.variables();
    let of = |name: &str| environment.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
    let mut read = Limits::default();
    read.read_variables(&of).unwrap();
    assert_eq!(read, limits);
    let wrong = |name: &str| (name == "SKEP_LIMIT_BODY").then(|| "much".to_owned());
    assert_eq!(read.read_variables(&wrong).unwrap_err(), "SKEP_LIMIT_BODY=\"much\" cannot be read");
}

#[test]
fn a_component_has_of_its_setup_what_its_host_has() {
    let mut setup = Setup { development: true, secure_cookies: true, notices: true, ..Setup::default() };
    setup.base_url = Some("https://example.org".parse().unwrap());
    setup.database = Some(Secret::new("postgres://ann:secret@db/shop".to_owned()));
    setup.session.idle = std::time::Duration::from_hours(2);
    let environment = setup.variables();
    let of = |name: &str| environment.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
    let set = ["SKEP_DEVELOPMENT", "SKEP_SECURE_COOKIES", "SKEP_MAIL_NOTICES"].map(|name| of(name).unwrap());
    assert_eq!(set, ["1", "1", "1"]);
    assert_eq!(of("SKEP_DATABASE").unwrap(), "postgres", "the address stays with the host");
    let mut read = Setup::default();
    read.read_variables(&of).unwrap();
    assert!(read.development && read.secure_cookies && read.notices && read.database.is_some());
    assert_eq!((&read.base_url, read.session), (&setup.base_url, setup.session));
    let variables = Setup::default().variables();
    let is_plain = |name: &str| variables.iter().all(|(known, _)| *known != name);
    let absent = ["SKEP_DEVELOPMENT", "SKEP_SECURE_COOKIES", "SKEP_MAIL_NOTICES", "SKEP_DATABASE", "SKEP_BASE_URL"];
    assert!(absent.into_iter().all(is_plain));
    let other = |name: &str| (name == "SKEP_DATABASE").then(|| "oracle".to_owned());
    assert_eq!(read.read_variables(&other).unwrap_err(), "SKEP_DATABASE=\"oracle\" cannot be read");
}

#[test]
fn without_a_data_directory_nothing_is_kept_and_none_of_the_application_is_touched() {
    use crate::{App, sql};

    const MIGRATIONS: sql::Migrations =
        sql::Migrations::new(&[sql::Migration::new(1, "0001.sql", "create table hive (name text)")]);
    let open = || App::new().database(MIGRATIONS).open(Setup::default()).unwrap();
    let (one, other) = (open(), open());
    one.db().write(|db| db.execute("insert into hive values ('a')")).unwrap();
    let hives = |site: &crate::Site| site.db().write(|db| db.one::<i64>("select count(*) from hive")).unwrap();
    assert_eq!((hives(&one), hives(&other)), (Some(1), Some(0)));
    let folder = one.data().to_owned();
    std::fs::write(folder.join("note"), "kept").unwrap();
    assert!(folder.starts_with(std::env::temp_dir()) && folder != other.data());
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&folder.metadata().unwrap()) & 0o777, 0o700);
    drop(one);
    assert!(!folder.exists() && other.data().exists());
    App::new().database(MIGRATIONS).check(&Setup::default()).unwrap();
    assert!(!std::path::Path::new("data").exists(), "the directory of the application in development");
}
