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
