//! Tests of `moment`.

use super::*;

#[test]
fn equal_times_are_equal_texts() {
    assert_eq!(time("18:30").unwrap(), "18:30:00.000000");
    assert_eq!(time("18:30:05.25").unwrap(), time("18:30:05.250000000").unwrap());
    assert_eq!(date_time("2026-12-31 18:30").unwrap(), "2026-12-31T18:30:00.000000");
    assert_eq!(timestamp("2026-12-31T18:30:00Z").unwrap(), "2026-12-31T18:30:00.000000Z");
    assert_eq!(date("2024-02-29").unwrap(), "2024-02-29");
    for wrong in ["tomorrow", "24:00", "18:60", "1:30", "18:30:00.1234567", "18:30:", "18:30:00.", "18:30Z"] {
        assert_eq!(time(wrong), None, "{wrong}");
    }
    for wrong in ["2026-02-29", "2026-13-01", "2026-1-1", "26-01-01", "2026-00-01", "2026-01-00", ""] {
        assert_eq!(date(wrong), None, "{wrong}");
    }
    assert_eq!((timestamp("2026-12-31T18:30:00"), date_time("2026-12-31")), (None, None));
}

#[test]
fn what_is_no_text_is_refused() {
    assert!(matches!(stored(Value::Null, date, "2026-12-31"), Ok(Value::Null)));
    assert!(stored(Value::Integer(5), date, "2026-12-31").is_err());
    let error = stored(Value::Text("tomorrow".into()), date, "2026-12-31").unwrap_err();
    assert!(error.to_string().contains("\"tomorrow\" is not such as 2026-12-31"), "{error}");
}
