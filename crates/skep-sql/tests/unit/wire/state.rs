//! Tests of `wire::state`.

use super::*;

#[test]
fn a_code_and_its_parameter_come_back() {
    for code in ["00001", "22P02", "23505", "40001", "57P01", "ZZZZZ"] {
        for parameter in [None, Some(1), Some(MOST)] {
            let number = pack(code, parameter);
            assert!(number < 0, "{code}");
            assert_eq!(unpack(number), Some((code.to_owned(), parameter)));
        }
    }
    assert_eq!(unpack(pack("23505", Some(MOST + 1))), Some(("23505".to_owned(), None)));
}

#[test]
fn what_is_no_code_is_none_of_postgresql() {
    assert!(["", "2350", "235055", "2350ä", "2p505"].iter().all(|text| pack(text, None) == 0));
    assert!([0, 1, 2067, i32::MIN].iter().all(|number| unpack(*number).is_none()));
}
