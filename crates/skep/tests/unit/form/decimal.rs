//! Tests of `form::decimal`.

use super::*;

#[test]
fn what_browsers_send_is_read_exactly() {
    let written = |text: &str| read(text).map(|number| number.to_string());
    for (text, number) in
        [("12.50", "12.50"), (".5", "0.5"), ("1e3", "1000"), ("125E-1", "12.5"), ("-1e+2", "-100"), ("007", "7")]
    {
        assert_eq!(written(text).as_deref(), Some(number), "{text}");
    }
    for wrong in
        ["", "-", ".", "5.", "1,5", "+1", "--1", "e5", "1e", "1e+", "1e+-5", "1e++5", "1e1.5", "1e99", "0x1", "NaN"]
    {
        assert_eq!(written(wrong), None, "{wrong}");
    }
}
