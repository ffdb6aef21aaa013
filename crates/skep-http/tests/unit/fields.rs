//! Unit tests of `fields`.

use http::header::{ACCEPT, COOKIE, HOST};

use super::*;

/// The fields of a head as a server finds them.
fn in_head(lines: &[(&str, &str)]) -> Fields {
    let (mut head, mut places) = (String::from("GET / HTTP/1.1\r\n"), FieldPositions::default());
    for (name, value) in lines {
        let value_at = head.len() + name.len() + 2;
        places.push(name.as_bytes(), head.len(), (value_at, value_at + value.len()));
        head.extend([name, ": ", value, "\r\n"]);
    }
    Fields::in_head((head + "\r\n").as_bytes(), places)
}

const LINES: [(&str, &str); 5] =
    [("Host", "x"), ("COOKIE", "a=b"), ("Accept", "text/html"), ("cookie", "c=d"), ("X-Empty", "")];

fn texts(values: Values<'_>) -> Vec<&str> {
    values.map(|value| value.to_str().unwrap()).collect()
}

/// However they came, the same is found.
#[test]
fn what_is_found_does_not_depend_on_how_the_fields_came() {
    let lines = in_head(&LINES);
    let mut map = HeaderMap::new();
    for (name, value) in LINES {
        map.append(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
    }
    assert_eq!(*lines.map(), map);
    for fields in [lines.clone(), Fields::from(map.clone()), lines.map().clone().into()] {
        assert_eq!((fields.len(), fields.is_empty()), (5, false));
        assert_eq!(fields.get(HOST).unwrap(), *"x");
        assert_eq!(texts(fields.get_all(COOKIE)), ["a=b", "c=d"]);
        assert_eq!(texts(fields.get_all("x-empty")), [""]);
        assert!(fields.contains_key(&ACCEPT) && !fields.contains_key("accept-encoding"));
        // Another name of the same length and first letter.
        assert!(fields.get("cooked").is_none() && texts(fields.get_all("cooked")).is_empty());
        assert_eq!(HeaderMap::from(fields), map);
    }
}

#[test]
fn what_is_removed_is_found_nowhere() {
    for mut fields in [in_head(&LINES), Fields::from(in_head(&LINES).map().clone())] {
        assert!(fields.map().contains_key(COOKIE), "the map is there already");
        fields.retain(|name| !name.eq_ignore_ascii_case(b"cookie"));
        assert!(!fields.contains_key(COOKIE) && !fields.map().contains_key(COOKIE));
        assert_eq!(fields.len(), 3);
        fields.map_mut().insert(COOKIE, HeaderValue::from_static("e=f"));
        assert_eq!(texts(fields.get_all(COOKIE)), ["e=f"]);
        assert_eq!(fields.get(HOST).unwrap(), *"x");
    }
}

#[test]
fn a_text_is_visible_ascii() {
    assert_eq!(in_head(&[("a", "b\tc ~")]).get("a").unwrap().to_str(), Ok("b\tc ~"));
    for hidden in ["\u{e9}", "\u{7f}", "\0"] {
        assert_eq!(in_head(&[("a", hidden)]).get("a").unwrap().to_str(), Err(NotText), "{hidden:?}");
    }
}

/// A server that is wrong about them makes fields that are not there, and no panic.
#[test]
fn places_outside_of_the_head_hold_nothing() {
    let mut places = FieldPositions::default();
    places.push(b"Host", 99, (98, 7));
    let fields = Fields::in_head(b"GET / HTTP/1.1\r\n\r\n", places);
    assert!(fields.get(HOST).is_none() && fields.map().is_empty());
}

/// The memory of a request goes to the next one of the thread, and nothing of what was in it.
#[test]
fn a_request_finds_nothing_of_the_one_before() {
    // Each has fewer fields and a shorter head than the one before.
    for count in (0..=LINES.len()).rev() {
        let mut places = FieldPositions::default();
        places.reserve();
        assert!(places.is_empty());
        let lines: Vec<_> = LINES[..count].iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let head = lines.concat();
        let mut at = 0;
        for (name, value) in &LINES[..count] {
            let value_at = at + name.len() + 2;
            places.push(name.as_bytes(), at, (value_at, value_at + value.len()));
            at = value_at + value.len() + 2;
        }
        // Of a server that is wrong about it: it lies where the head before was longer.
        places.push(b"Beyond", at, (at, at + 1));
        let fields = Fields::in_head(head.as_bytes(), places);
        assert!(fields.get("beyond").is_none());
        assert_eq!(fields.map().len(), count);
        for (number, (name, value)) in LINES.iter().enumerate() {
            let found = fields.get_all(*name).any(|found| found == **value);
            assert_eq!(found, number < count, "{name} with {count} fields");
        }
        assert_eq!(fields.may_begin_with(b"ac"), count >= 2, "{count}");
    }
}
