//! Values that come back from outside: cookies, sealed texts, and SQL values that a component packs.
#![allow(unreachable_pub, reason = "as a module of a test nobody reaches it")]

use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use skep::hosted::Hosted;
use skep::prelude::*;
use skep::sql::{Database, Packed};
use skep::wire::{Reader, Short};
use skep::{Body, LocalSite, Request, Setup, Site};

use super::properties::{at_once, http_request, text};

/// Says what a cookie is.
#[derive(Service)]
#[service(GET "/cookie")]
struct Mine;

impl Handle for Mine {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(cx.cookie("mine").map_or_else(|| "none".to_owned(), |value| format!("[{value}]"))))
    }
}

struct Parts {
    site: Arc<Site>,
    local: LocalSite,
    database: Database,
}

fn with<R>(work: impl FnOnce(&Parts) -> R) -> R {
    thread_local! { static PARTS: Parts = parts(); }
    PARTS.with(work)
}

fn parts() -> Parts {
    let setup = || {
        let mut setup = Setup::default();
        setup.temporary_database = true;
        setup.data = std::env::temp_dir();
        setup
    };
    let site = Arc::new(App::new().serve(services![Mine]).open(setup()).expect("the application starts"));
    let hosted = Hosted::new("fuzz", setup()).expect("the application starts");
    let database = hosted.open_database(&[], &[], false).expect("an empty database");
    Parts { local: site.local(), site, database }
}

/// A cookie is the first pair of its name, whatever stands around it.
///
/// # Panics
/// If that does not hold.
pub fn cookies(data: &[u8]) {
    let Ok(sent) = HeaderValue::from_bytes(data) else { return };
    let of_data = data.split(|byte| *byte == b';').find_map(mine);
    assert_eq!(cookie(&[&sent]), of_data, "{sent:?}");
    let ours = HeaderValue::from_static("mine=a-b");
    assert_eq!(cookie(&[&ours, &sent]).as_deref(), Some("a-b"));
    assert_eq!(cookie(&[&sent, &ours]), of_data.or_else(|| Some("a-b".to_owned())), "{sent:?}");
}

/// As RFC 6265, 5.4, has the pair written; quotation marks around a value are not part of it.
fn mine(pair: &[u8]) -> Option<String> {
    let value = pair.trim_ascii().strip_prefix(b"mine=").filter(|_| pair.is_ascii())?;
    let inner = match value {
        [b'"', inner @ .., b'"'] => inner,
        other => other,
    };
    Some(String::from_utf8_lossy(inner).into_owned())
}

fn cookie(fields: &[&HeaderValue]) -> Option<String> {
    let request = fields.iter().fold(http_request("GET", "/cookie"), |request, field| request.header("cookie", *field));
    let (parts, ()) = request.body(()).expect("it is a request").into_parts();
    let body = with(|all| {
        let response = at_once(all.local.answer(Request::new(parts, Body::empty())));
        assert_eq!(response.status(), 200);
        at_once(text(response.into_body()))
    });
    let body = String::from_utf8(body).expect("text");
    body.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).map(ToOwned::to_owned)
}

/// What was sealed opens with its purpose, and nothing else does. Purpose and value stand around the first byte 0.
///
/// # Panics
/// If that does not hold.
pub fn sealed(data: &[u8]) {
    const HOUR: Duration = Duration::from_hours(1);
    let text = String::from_utf8_lossy(data);
    let (purpose, value) = text.split_once('\0').unwrap_or(("", &*text));
    with(|all| {
        let open = |purpose: &str, sealed: &str| all.site.unseal::<String>(purpose, sealed).expect("there are keys");
        assert_eq!(open(purpose, &text), None, "what was never sealed");
        let sealed = all.site.seal(purpose, value, HOUR).expect("there are keys");
        assert_eq!(open(purpose, &sealed).as_deref(), Some(value));
        assert_eq!(open(&format!("{purpose} "), &sealed), None, "another purpose");
        assert_eq!(open(purpose, &changed(&sealed, data)), None, "a changed text");
        assert_eq!(open(purpose, &all.site.seal(purpose, value, Duration::ZERO).expect("there are keys")), None);
        assert_eq!(all.site.unseal::<u8>(purpose, &sealed).expect("there are keys"), None, "another type");
    });
}

/// With one letter replaced, removed or added.
fn changed(sealed: &str, data: &[u8]) -> String {
    let byte = |at: usize| data.get(at).copied().map_or(0, usize::from);
    let at = (byte(0) << 8 | byte(1)) % sealed.len();
    let (before, after) = sealed.split_at(at);
    match byte(2) % 3 {
        0 => format!("{before}{}{}", if after.starts_with('A') { 'B' } else { 'A' }, &after[1..]),
        1 => format!("{before}{}", &after[1..]),
        _ => format!("{before}A{after}"),
    }
}

/// A value as SQLite has it.
#[derive(Debug, PartialEq)]
enum Cell {
    Null,
    Integer(u64),
    Real(u64),
    Text(String),
    Blob(Vec<u8>),
}

/// Two values that a component packs come back from the database as they are, and what is no two values is an error.
/// The first byte says how it asks, the rest are the values.
///
/// # Panics
/// If that does not hold.
pub fn packed(data: &[u8]) {
    let Some((ask, values)) = data.split_first() else { return };
    let statement = Packed::new(ask % 3, "select ?1, ?2".to_owned(), values.to_vec()).expect("it is short");
    let (statement, is_writer) = (Arc::new(statement), ask / 3 % 2 == 1);
    let answer = with(|all| match all.database.local().packed_now(&statement, is_writer) {
        Ok(bytes) => Ok(bytes),
        Err(elsewhere) => at_once(elsewhere.run(&statement)).0,
    });
    let mut reader = Reader::new(values);
    match (reader.u32().and_then(|count| if count == 2 { cells(&mut reader, 2) } else { Err(Short) }), answer) {
        (Ok(sent), Ok(answer)) => assert_eq!(row(&answer), Ok(sent.into_iter().map(stored).collect())),
        (Err(Short), Err(_)) => {}
        (sent, answer) => panic!("{sent:?}, and {answer:?}"),
    }
}

fn cells(reader: &mut Reader<'_>, count: usize) -> Result<Vec<Cell>, Short> {
    let cell = |_| {
        Ok(match reader.u8()? {
            0 => Cell::Null,
            1 => Cell::Integer(reader.u64()?),
            2 => Cell::Real(reader.u64()?),
            // A decimal number is a text to SQLite.
            3 | 5 => Cell::Text(String::from_utf8(reader.bytes()?.to_vec()).map_err(|_| Short)?),
            4 => Cell::Blob(reader.bytes()?.to_vec()),
            _ => return Err(Short),
        })
    };
    (0..count).map(cell).collect()
}

/// SQLite has no NaN.
fn stored(cell: Cell) -> Cell {
    match cell {
        Cell::Real(bits) if f64::from_bits(bits).is_nan() => Cell::Null,
        other => other,
    }
}

/// The only row of an answer with two columns.
fn row(answer: &[u8]) -> Result<Vec<Cell>, Short> {
    let mut reader = Reader::new(answer);
    assert_eq!(reader.u32()?, 2, "columns");
    assert_eq!((reader.bytes()?, reader.bytes()?), (&b"?1"[..], &b"?2"[..]));
    assert_eq!(reader.u32()?, 1, "rows");
    let cells = cells(&mut reader, 2)?;
    assert!(reader.is_empty());
    Ok(cells)
}
