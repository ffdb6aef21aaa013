//! Parts of files (RFC 9110, 14).

use std::pin::Pin;

use http_body::Body as _;

use super::*;

const DIGITS: &str = "0123456789";

fn ask(site: &Site, path: &str, range: &str) -> (u16, String, String) {
    let answer = site.get_with(path, &[(header::RANGE, range)]);
    assert_eq!(answer.body().len().unwrap().to_string(), field(&answer, header::CONTENT_LENGTH), "{range}");
    (answer.status().as_u16(), field(&answer, header::CONTENT_RANGE).to_owned(), text(answer))
}

#[test]
fn a_part_says_which_it_is() {
    let site = Site::new(&[("a.txt", DIGITS)]);
    for round in ["from the disk", "from memory"] {
        for (range, content_range, content) in [
            ("bytes=0-0", "bytes 0-0/10", "0"),
            ("bytes=2-4", "bytes 2-4/10", "234"),
            ("bytes=7-", "bytes 7-9/10", "789"),
            ("bytes=-3", "bytes 7-9/10", "789"),
            ("bytes=-99", "bytes 0-9/10", DIGITS),
            ("bytes=5-99", "bytes 5-9/10", "56789"),
            ("bytes=0-1,3-4", "bytes 0-4/10", "01234"),
            ("bytes=3-4,99-", "bytes 3-4/10", "34"),
        ] {
            assert_eq!(
                ask(&site, "a.txt", range),
                (206, content_range.to_owned(), content.to_owned()),
                "{range} {round}"
            );
        }
        for range in ["lines=0-1", "bytes=4-2", "bytes=x", "bytes", "bytes=0-1, 5"] {
            assert_eq!(ask(&site, "a.txt", range), (200, String::new(), DIGITS.to_owned()), "{range} {round}");
        }
        settle();
        site.get("a.txt");
    }
}

#[test]
fn a_part_that_does_not_exist_is_a_416() {
    let site = Site::new(&[("a.txt", DIGITS), ("empty.txt", "")]);
    for (path, range) in
        [("a.txt", "bytes=10-"), ("a.txt", "bytes=-0"), ("a.txt", "bytes=99-100,10-"), ("empty.txt", "bytes=0-")]
    {
        assert_eq!(site.status(path, &[(header::RANGE, range)]), 416, "{path} {range}");
    }
    assert_eq!(site.status("empty.txt", &[(header::RANGE, "bytes=-5")]), 200);
    assert_eq!(site.status("empty.txt", &[]), 200);
}

#[test]
fn only_get_has_parts_and_only_one_field_counts() {
    let site = Site::new(&[("a.txt", DIGITS)]);
    let range = headers(&[(header::RANGE, "bytes=0-0")]);
    let head = site.ask(&Method::HEAD, "a.txt", &range).unwrap();
    assert_eq!((head.status().as_u16(), field(&head, header::CONTENT_LENGTH)), (200, "10"));
    assert_eq!(site.status("a.txt", &[(header::RANGE, "bytes=0-0"), (header::RANGE, "bytes=1-1")]), 200);
}

#[test]
fn if_range_gives_the_part_of_the_same_and_the_whole_of_another() {
    let site = Site::new(&[("a.txt", DIGITS)]);
    let then = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    fs::File::options().append(true).open(site.path("a.txt")).unwrap().set_modified(then).unwrap();
    settle();
    let answer = site.get("a.txt");
    let (tag, date) = (etag(&answer), field(&answer, header::LAST_MODIFIED).to_owned());
    for (value, status) in [
        (tag.as_str(), 206),
        (date.as_str(), 206),
        (&format!("W/{tag}"), 200),
        ("\"other\"", 200),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 200),
        ("Fri, 01 Jan 2100 00:00:00 GMT", 200),
        ("x", 200),
    ] {
        assert_eq!(site.status("a.txt", &[(header::RANGE, "bytes=0-0"), (header::IF_RANGE, value)]), status, "{value}");
    }
    // An unsatisfiable range of something else is no error: the client gets what there is now.
    assert_eq!(site.status("a.txt", &[(header::RANGE, "bytes=99-"), (header::IF_RANGE, "\"other\"")]), 200);
}

#[test]
fn several_parts_come_in_one_body() {
    let content: String = (0..5000).map(|at| char::from(b'a' + u8::try_from(at % 26).unwrap())).collect();
    let site = Site::with(&[("a.txt", &content)], |files| files.held_file(100));
    let answer = site.get_with("a.txt", &[(header::RANGE, "bytes=4000-4009,0-9,-5")]);
    assert_eq!(answer.status(), 206);
    assert_eq!(field(&answer, header::CONTENT_RANGE), "", "it stands in the parts (RFC 9110, 15.3.7.2)");
    assert_eq!(answer.body().len().unwrap().to_string(), field(&answer, header::CONTENT_LENGTH));
    let boundary =
        field(&answer, header::CONTENT_TYPE).strip_prefix("multipart/byteranges; boundary=").unwrap().to_owned();
    let part = |first: usize, last: usize| {
        let piece = &content[first..=last];
        format!(
            "\r\n--{boundary}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Range: bytes {first}-{last}/5000\r\n\r\n{piece}"
        )
    };
    let expected = format!("{}{}{}\r\n--{boundary}--\r\n", part(4000, 4009), part(0, 9), part(4995, 4999));
    assert_eq!(text(answer), expected);
    let again = site.get_with("a.txt", &[(header::RANGE, "bytes=0-9,-5")]);
    assert!(!field(&again, header::CONTENT_TYPE).ends_with(&boundary), "a boundary is used once");
}

/// What the answer says of the bytes it has: of each part, if there are several. Or its status, if it has no part.
fn parts(site: &Site, range: &str) -> Vec<String> {
    let answer = site.ask(&Method::GET, "a.bin", &headers(&[(header::RANGE, range)]));
    let answer = match answer {
        Ok(answer) if answer.status() == 206 => answer,
        Ok(answer) => return vec![answer.status().as_str().to_owned()],
        Err(error) => return vec![error.status().as_str().to_owned()],
    };
    let of = |line: &str| line.strip_prefix("bytes ")?.split_once('/').map(|(range, _)| range.to_owned());
    match of(field(&answer, header::CONTENT_RANGE)) {
        Some(only) => vec![only],
        None => text(answer).lines().filter_map(|line| of(line.strip_prefix("Content-Range: ")?)).collect(),
    }
}

#[test]
fn the_field_is_read_as_rfc_9110_14_says() {
    let site = Site::new(&[("a.bin", &"x".repeat(10_000))]);
    for (field, expected) in [
        // 14.1.2: int ranges and suffix ranges.
        ("bytes=0-0", "0-0"),
        ("bytes=0-499", "0-499"),
        ("bytes=9500-", "9500-9999"),
        ("bytes=-500", "9500-9999"),
        ("bytes=-20000", "0-9999"),
        ("bytes=9999-10000", "9999-9999"),
        ("bytes=0-18446744073709551615", "0-9999"),
        ("bytes=0-99999999999999999999999999", "0-9999"),
        ("BYTES=0-1", "0-1"),
        // Lists: order kept, blanks and empty members allowed, what does not exist left out.
        ("bytes=0-0,-1", "0-0 9999-9999"),
        ("bytes=5000-5001, 0-1", "5000-5001 0-1"),
        ("bytes=,0-1 ,\t,", "0-1"),
        ("bytes=0-1,20000-", "0-1"),
        // 15.3.7.2: what overlaps or nearly touches is one.
        ("bytes=0-10,5-20", "0-20"),
        ("bytes=0-10,11-20", "0-20"),
        ("bytes=0-10,91-100", "0-100"),
        ("bytes=0-10,92-100", "0-10 92-100"),
        ("bytes=0-0,200-200,100-100,40-160", "0-200"),
        ("bytes=500-600,0-10,300-450", "300-600 0-10"),
        // 15.5.17.
        ("bytes=10000-", "416"),
        ("bytes=99999999999999999999999999-", "416"),
        ("bytes=-0", "416"),
        ("bytes=10000-10001,-0", "416"),
        // 14.2: invalid or unknown is ignored.
        ("bytes=5-4", "200"),
        ("bytes=0-1,5-4", "200"),
        ("bytes=", "200"),
        ("bytes=,", "200"),
        ("bytes=-", "200"),
        ("bytes=a-b", "200"),
        ("bytes=+1-2", "200"),
        ("bytes=1--2", "200"),
        ("bytes 0-1", "200"),
        ("lines=0-1", "200"),
        ("", "200"),
    ] {
        assert_eq!(parts(&site, field).join(" "), expected, "{field}");
    }
}

#[test]
fn of_an_empty_file_there_is_no_part() {
    let site = Site::new(&[("a.bin", "")]);
    for (field, status) in [("bytes=0-", "416"), ("bytes=-0", "416"), ("bytes=-5", "200")] {
        assert_eq!(parts(&site, field), [status], "{field}");
    }
}

#[test]
fn parts_never_touch_whatever_is_asked() {
    const LEN: u64 = 4200;
    let site = Site::new(&[("a.bin", &"x".repeat(4200))]);
    let mut seed = 7_u64;
    let mut next = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for _ in 0..2000 {
        let specs: Vec<(u64, u64)> = (0..=next(20)).map(|_| (next(4000), next(300))).collect();
        let field = specs.iter().map(|(first, more)| format!("{first}-{}", first + more)).collect::<Vec<_>>().join(",");
        let numbers = |part: &String| {
            let (first, last) = part.split_once('-').unwrap();
            (first.parse::<u64>().unwrap(), last.parse::<u64>().unwrap())
        };
        let parts: Vec<(u64, u64)> = parts(&site, &format!("bytes={field}")).iter().map(numbers).collect();
        for (at, (first, last)) in parts.iter().enumerate() {
            assert!(first <= last && *last < LEN, "{field}: {parts:?}");
            // Nearer than a part's own head is long, they are one.
            let is_apart = |(begin, end): &(u64, u64)| *begin > last + 81 || end + 81 < *first;
            assert!(parts[at + 1..].iter().all(is_apart), "{field}: {parts:?}");
        }
        for (first, more) in specs {
            let covers = |(begin, end): &(u64, u64)| *begin <= first && *end >= (first + more).min(LEN - 1);
            assert!(parts.iter().any(covers), "{field}: {parts:?}");
        }
    }
}

#[test]
fn too_many_parts_are_one_whole() {
    let site = Site::new(&[("a.bin", &"x".repeat(60_000))]);
    let ranges = |count: usize| {
        format!("bytes={}", (0..count).map(|at| format!("{0}-{0}", at * 1000)).collect::<Vec<_>>().join(","))
    };
    assert_eq!(parts(&site, &ranges(32)).len(), 32);
    assert_eq!(parts(&site, &ranges(33)), ["200"]);
}

/// 5 GiB, of which the disk holds nothing: read in pieces, and only where asked.
#[test]
fn a_file_of_any_size_streams_in_constant_memory() {
    const SIZE: u64 = 5 << 30;
    let site = Site::new(&[("big.bin", "")]);
    fs::File::create(site.path("big.bin")).unwrap().set_len(SIZE).unwrap();
    let whole = site.get("big.bin");
    assert_eq!(whole.body().len(), Some(SIZE));
    assert_eq!(whole.into_body().into_file().unwrap().len, SIZE);
    let last = site.get_with("big.bin", &[(header::RANGE, "bytes=-2")]);
    assert_eq!(field(&last, header::CONTENT_RANGE), format!("bytes {}-{}/{SIZE}", SIZE - 2, SIZE - 1));

    let mut parts = site.get_with("big.bin", &[(header::RANGE, "bytes=0-4000000,5000000000-5300000000")]).into_body();
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..200 {
        let Poll::Ready(Some(frame)) = Pin::new(&mut parts).poll_frame(&mut cx) else { panic!("it ended early") };
        assert!(frame.unwrap().into_data().unwrap().len() <= 64 << 10);
    }
}
