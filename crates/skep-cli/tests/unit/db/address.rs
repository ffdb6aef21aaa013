//! Tests of `db::address`.

use super::*;

#[test]
fn only_this_machine_is_here() {
    for (address, is_here) in [
        ("postgres:///shop?host=/var/run/postgresql", true),
        ("postgres://%2Fvar%2Frun%2Fpostgresql/shop", true),
        ("postgres://shop@localhost/shop", true),
        ("postgres://shop@127.0.0.1:5433/shop", true),
        ("postgres://shop@[::1]:5433,localhost/shop", true),
        ("postgres:///shop?hostaddr=127.0.0.1", true),
        ("postgres://shop@db.example.org/shop", false),
        ("postgres://shop@localhost,db.example.org/shop", false),
        ("postgres://shop@localhost/shop?hostaddr=192.0.2.7", false),
        ("postgres://shop@localhost/shop?host%61ddr=192.0.2.7", false),
        ("postgres://shop@localhost/shop?host=db.example.org", false),
        ("postgres://shop@localhost/shop?host=/run,db.example.org", false),
        ("postgres://shop@localhost,/shop", false),
        // The environment, or what libpq was built with, would say where.
        ("postgres:///shop", false),
        ("postgres:///shop?host=", false),
    ] {
        assert_eq!(Address::parse(address).unwrap().is_here(), is_here, "{address}");
    }
}

#[test]
fn a_password_is_never_shown() {
    for (address, shown, password) in [
        ("postgres://shop:a%40b@localhost/shop", "postgres://shop@localhost/shop", "a@b"),
        ("postgresql:///shop?host=/run&password=a%26b", "postgres:///shop?host=/run", "a&b"),
        ("postgres://u:p@h/shop?sslmode=verify-full", "postgres://u@h/shop?sslmode=verify-full", "p"),
        ("postgres://u:p@h/shop?pgbouncer=true", "postgres://u@h/shop", "p"),
    ] {
        let address = Address::parse(address).unwrap();
        assert_eq!((address.to_string().as_str(), address.password()), (shown, Some(password)));
    }
    assert_eq!(Address::parse("postgres://shop@localhost/shop").unwrap().password(), None);
    for wrong in
        ["postgres://u:p@ss@h/shop", "postgres://u:p/ss@h/shop", "postgres://u:p%zz@h/s", "postgres:///s?service=p"]
    {
        let error = Address::parse(wrong).unwrap_err();
        assert!(!error.contains("ss@h") && !error.contains("zz"), "{error}");
    }
}

#[test]
fn a_database_is_dropped_from_the_one_beside_it() {
    let beside = |address: &str| Address::parse(address).unwrap().beside();
    assert_eq!(
        beside("postgres://a:b@localhost:5433/shop?sslmode=disable"),
        "postgres://a@localhost:5433/postgres?sslmode=disable"
    );
    let address = "postgres:///?host=/run&dbname=my%20shop";
    assert_eq!(beside(address), "postgres:///postgres?host=/run");
    assert_eq!(Address::parse(address).unwrap().name().unwrap(), "my shop");
    assert!(Address::parse("postgres://localhost").unwrap().name().is_err());
}
