//! The encoding of entries.

use skep_cache::driver::{Entry, Flags, Header, Record};
use skep_cache::{Time, Version};

#[test]
fn a_header_is_parsed_as_it_was_encoded() {
    let header = Header {
        flags: Flags::NEGATIVE.with(Flags::COUNTER),
        cost: 3,
        version: Version::from_u64(4),
        fresh_until: Time::from_millis(5),
        dead_at: Time::from_millis(6),
        idle: 7,
        weight: 9,
        mark: 8,
    };
    let record = Record::new(&header, &[1, 2], b"value");
    assert_eq!(record.entry().header(), header);
    let other = Header { mark: 9, ..header };
    assert_eq!(record.with_header(&other), Record::new(&other, &[1, 2], b"value"));
}

#[test]
fn invalid_bytes_are_refused() {
    let whole = Record::new(&Header::default(), &[1], b"");
    let whole = whole.bytes();
    for cut in 0..whole.len() {
        assert!(Entry::parse(&whole[..cut]).unwrap_err().is_corrupt(), "{cut} bytes");
    }
    let mut foreign = whole.to_vec();
    foreign[0] = b'{';
    assert!(Entry::parse(&foreign).unwrap_err().is_corrupt());
}
