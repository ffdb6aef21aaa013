//! Unit tests of `sql::postgres::columns`. That PostgreSQL writes this format, the tests with a server show.

use super::*;

#[test]
fn dates_are_of_the_gregorian_calendar() {
    let said = |days: i32| date(&days.to_be_bytes()).unwrap();
    assert_eq!(said(0), "2000-01-01");
    assert_eq!(said(59), "2000-02-29");
    assert_eq!(said(60), "2000-03-01");
    assert_eq!(said(366), "2001-01-01");
    assert_eq!(said(-1), "1999-12-31");
    assert_eq!(said(-36_524), "1900-01-01");
    assert_eq!(said(i32::MAX), "infinity");
}

#[test]
fn years_have_four_digits_at_least() {
    let said = |days: i32| date(&days.to_be_bytes()).unwrap();
    for (days, written, of_postgres) in [
        (-365_623, "0998-12-16", None),
        (-730_119, "0001-01-01", None),
        (-730_120, "0000-12-31", Some("0001-12-31 BC")),
        (-746_124, "-0043-03-08", Some("0044-03-08 BC")),
        (2_921_940, "10000-01-01", None),
    ] {
        assert_eq!(said(days), written);
        assert_eq!(before_christ(written).as_deref(), of_postgres);
    }
    assert_eq!(before_christ("-0043-03-15T12:00:00Z").as_deref(), Some("0044-03-15T12:00:00Z BC"));
    for other in
        ["", "-", "-43-03-15", "x0000-01-01", "-infinity", "now", "20260101", "-00x0-01-01", "-99999999999-01-01"]
    {
        assert_eq!(before_christ(other), None, "{other}");
    }
}

#[test]
fn times_have_as_many_decimals_as_they_need() {
    let said = |micros: i64| timestamp(&micros.to_be_bytes(), "Z").unwrap();
    assert_eq!(said(0), "2000-01-01T00:00:00Z");
    assert_eq!(said(1_500_000), "2000-01-01T00:00:01.5Z");
    assert_eq!(said(-1), "1999-12-31T23:59:59.999999Z");
    assert_eq!(time(&0_i64.to_be_bytes()).unwrap(), "00:00:00");
}

#[test]
fn numbers_keep_every_digit() {
    let said = |weight: i16, sign: u16, scale: u16, groups: &[u16]| {
        let count = u16::try_from(groups.len()).unwrap();
        let words = [&[count, weight.cast_unsigned(), sign, scale], groups].concat();
        numeric(&words.into_iter().flat_map(u16::to_be_bytes).collect::<Vec<_>>()).unwrap()
    };
    assert_eq!(said(0, 0, 0, &[]), "0");
    assert_eq!(said(1, 0, 0, &[1, 2]), "10002");
    assert_eq!(said(1, 0x4000, 0, &[12]), "-120000");
    assert_eq!(said(0, 0, 2, &[3, 1400]), "3.14");
    assert_eq!(said(-1, 0x4000, 4, &[5]), "-0.0005");
    assert_eq!(said(-2, 0, 6, &[1200]), "0.000012");
    assert_eq!(said(5, 0, 0, &[1]), "100000000000000000000");
    assert_eq!(said(0, 0xC000, 0, &[]), "NaN");
}

#[test]
fn what_is_too_short_is_no_value() {
    assert_eq!(date(&[1]), None);
    assert_eq!(uuid(&[1]), None);
    assert!(numeric(&[0, 1]).is_none());
}
