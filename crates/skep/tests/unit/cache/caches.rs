//! Unit tests of `cache::caches`.

use super::*;

#[test]
fn what_one_site_keeps_no_other_sees() {
    let (mut here, mut there) = (Setup::default(), Setup::default());
    (here.data, there.data) = ("/srv/ann".into(), "/srv/bob".into());
    let host: BaseUrl = "https://example.org".parse().unwrap();
    let sites = [
        site(&here, "blog", None),
        site(&there, "blog", None),
        site(&here, "shop", None),
        site(&here, "blog", Some(&host)),
    ];
    for (at, one) in sites.iter().enumerate() {
        assert!(!sites[..at].contains(one), "{at}");
    }
    assert_eq!(site(&here, "blog", Some(&host)), sites[3], "of all processes of a site it is the same");
}

#[test]
fn machines_of_a_cluster_are_one_site() {
    let machine = |data: &str, address: &str| {
        let mut setup = Setup::default();
        (setup.cluster, setup.data, setup.database) = (true, data.into(), Some(crate::Secret::new(address.to_owned())));
        site(&setup, "shop", None)
    };
    let one = machine("/srv/one", "postgres://db/shop");
    // A password that is changed on one machine after the other signs nobody out, and begins no limit again.
    for other in ["postgres://db/shop", "postgresql://ann@db/shop", "postgres://ann:s%40e@db/shop?sslmode=require"] {
        assert_eq!(machine("two", other), one, "{other}");
    }
    assert_ne!(machine("/srv/one", "postgres://db/blog"), one);
    let socket = machine("/srv/one", "postgres:///shop?host=/run/db&user=ann");
    assert_ne!(socket, one);
}
