//! Unit tests of `prefork::status_query`.

use super::*;

#[test]
fn a_report_counts_once_for_each_pending_query_and_not_for_later_ones() {
    let site = skep::App::new().on_status(|_| vec![skep::status::Part::new("orders").value("waiting", 7_u64)]);
    let mut setup = skep::Setup::default();
    setup.temporary_database = true;
    let site = site.open(setup).unwrap();
    let mut queries = StatusQuery::new().unwrap();
    let (own, other) = (rustix::process::getpid(), Pid::INIT);
    queries.report(&site);
    queries.receive();
    queries.start(1, true, vec![own, other]);
    queries.start(2, false, vec![own]);
    queries.receive();
    assert_eq!(queries.pending[0].missing, [own, other], "the report was sent before the query");
    queries.report(&site);
    queries.report(&site);
    queries.receive();
    queries.on_exit(other);
    let json = format!("{{\"process\":{},\"name\":\"orders\",\"waiting\":7}}", std::process::id());
    assert_eq!((queries.pending[0].missing.len(), &*queries.pending[0].reports), (0, &[json][..]));
    assert!(queries.pending[1].missing.is_empty() && queries.pending[1].reports[0].contains("orders"));
}
