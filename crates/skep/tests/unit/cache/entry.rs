//! Tests of how entries of the cache are stored.

use super::*;

fn page() -> PageEntry {
    let bytes = Bytes::from_static;
    PageEntry::Page(Page {
        status: 200,
        fields: vec![("etag".to_owned(), bytes(b"\"1\""))],
        body: bytes(b"whole"),
        packed: vec![(Coding::Brotli, bytes(b"br")), (Coding::Gzip, bytes(b""))],
    })
}

fn encoded(entry: &PageEntry) -> Bytes {
    let mut bytes = BytesMut::new();
    PageCodec.encode(entry, &mut bytes).unwrap();
    bytes.freeze()
}

#[test]
fn an_entry_is_decoded_as_it_was_without_copying_its_bodies() {
    let others = [
        PageEntry::Piece("<p>".to_owned(), vec![1, 2], Some("nonce".to_owned())),
        PageEntry::Failed(500, None),
        PageEntry::Depends(3),
    ];
    for entry in others.into_iter().chain([page()]) {
        assert_eq!(PageCodec.decode(&encoded(&entry)).unwrap(), entry);
    }
    let bytes = encoded(&page());
    let PageEntry::Page(shared) = PageCodec.decode_shared(bytes.clone()).unwrap() else { panic!("a page") };
    assert!(bytes.as_ptr_range().contains(&shared.body.as_ptr()));
}

#[test]
fn bytes_that_are_too_few_or_too_many_are_no_entry() {
    let bytes = encoded(&page());
    for end in 0..bytes.len() {
        assert!(PageCodec.decode(&bytes[..end]).is_err(), "{end}");
    }
    assert!(PageCodec.decode(&[&bytes[..], b"x"].concat()).is_err());
}
