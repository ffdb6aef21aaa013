//! Unit tests of `sql::postgres::address`.

use tokio_postgres::config::SslMode;

use super::*;

#[test]
fn the_place_has_no_secrets() {
    let place = |text| parse(text).unwrap().shown.display().to_string();
    assert_eq!(place("postgres://ann:s3cr3t@db.example.org/shop?options=-c%20a%3Db"), "postgres://db.example.org/shop");
    assert_eq!(place("postgresql:///shop?host=/run/postgresql&user=ann"), "postgres:///run/postgresql/shop");
}

#[test]
fn words_of_libpq_are_understood() {
    let address = parse("postgres://h/n?sslmode=verify-full&sslrootcert=/etc/a%20b.pem").unwrap();
    assert_eq!(address.config.get_ssl_mode(), SslMode::Require);
    assert_eq!(address.authorities.unwrap().display().to_string(), "/etc/a b.pem");
    assert_eq!(parse("postgres://h/n?sslmode=disable").unwrap().config.get_ssl_mode(), SslMode::Disable);
}

#[test]
fn through_pgbouncer_nothing_is_cancelled() {
    assert!(parse("postgres://h/n").unwrap().cancels);
    assert!(!parse("postgres://h/n?pgbouncer=true").unwrap().cancels);
    let error = parse("postgres://h/n?pgbouncer=yes").err().unwrap();
    assert_eq!(error, "pgbouncer=yes: expected `true` or `false`");
}

#[test]
fn what_is_no_address_is_an_error_without_it() {
    for wrong in [
        "mysql://ann:s3cr3t@h/n",
        "postgres://ann:s3cr3t@h/n?nonsense=s3cr3t",
        "host=h password=s3cr3t",
        "postgres://ann:a@s3cr3t@h/n",
        "postgres://ann:a?s3cr3t@h/n",
        "postgres://ann:s3cr3t@h:0/n",
        "postgres://ann:s3cr3t@h:65536/n",
        "postgres://ann:s3cr3t@a:1,b:2/n?port=1,2,3",
        "postgres:///n?password=s3cr3t",
        "postgres://",
    ] {
        let error = parse(wrong).err().unwrap();
        assert!(!error.contains("s3cr3t"), "{error}");
    }
}

#[test]
fn a_machine_that_is_gone_is_noticed_unless_the_address_says_when() {
    let config = parse("postgres://h/n").unwrap().config;
    assert_eq!((config.get_connect_timeout(), config.get_keepalives_idle()), (Some(&CONNECT), SILENT));
    let config = parse("postgres://h/n?connect_timeout=7&keepalives_idle=60").unwrap().config;
    assert_eq!(config.get_connect_timeout(), Some(&Duration::from_secs(7)));
    assert_eq!(config.get_keepalives_idle(), Duration::from_mins(1));
}
