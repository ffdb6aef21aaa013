//! Unit tests of `app_status`.

use super::*;

#[test]
fn reports_of_several_processes_are_joined_up_to_the_size_limit() {
    let parts = [Part::new("orders").value("process", 5_u64).value("waiting", 7_u64)];
    assert_eq!(list(&parts, Some(12)), r#"[{"process":12,"name":"orders","waiting":7}]"#);
    let reports = [String::new(), "{1}".to_owned(), "x".repeat(MAX_REPORT), "{2}".to_owned()];
    assert_eq!(of_processes(&reports, &[9], true), r#"[{1},{2},{"process":9,"name":null}]"#);
    let text = of_processes(&reports, &[9], false);
    assert!(text.starts_with("{1}{2}process 9: no status report in time\n1 more processes omitted"), "{text}");
    assert_eq!(of_processes(&[], &[], true), "[]");
}

#[test]
fn a_report_that_is_too_large_ends_after_a_whole_part() {
    let parts: Vec<Part> =
        (0..3000).map(|number| Part::new(format!("p{number}")).value("n\"", "a long value of it")).collect();
    let (text, list) = (text(&parts), list(&parts, None));
    assert!(text.len() < MAX_REPORT + 100 && list.len() <= MAX_REPORT + 1);
    assert!(text.ends_with(" more parts omitted\n"), "{}", &text[text.len() - 99..]);
    assert!(list.starts_with(r#"[{"name":"p0","n\"":"a long value of it"},{"name":"p1","#) && list.ends_with("\"}]"));
}
