//! Whether the variants of an experiment answer the same.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::GzDecoder;

use crate::Result;
use crate::experiment::{Load, Same};
use crate::load::FetchedResponse;
use crate::site::data::Worlds;

mod page;
mod rows;

/// What a variant answered before the load began.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    pub(crate) body: usize,
    content: Content,
}

/// What of it is compared with others.
#[derive(Debug, Clone)]
enum Content {
    /// Nothing: what it must be is known before.
    Known,
    Page(String),
    Rows(Worlds),
}

impl Answered {
    /// The rows that it has, if it has rows.
    pub(crate) fn rows(&self) -> Option<&Worlds> {
        if let Content::Rows(rows) = &self.content { Some(rows) } else { None }
    }
}

/// Checks a variant's answer to a request of this load. `first` is what the first variant has answered, if it is not
/// this one.
pub(crate) fn check(
    same: Same,
    load: Load,
    name: &str,
    answer: &FetchedResponse,
    first: Option<&Answered>,
) -> Result<Answered> {
    if answer.status != 200 {
        return Err(format!("{name} answers {}: {}", answer.status, start(&answer.body)).into());
    }
    if load.wants_compression() && answer.field("content-encoding").is_none() {
        return Err(format!("{name} does not compress its answer").into());
    }
    let body = decoded(name, answer)?;
    let content = match same {
        Same::Page(pieces) => Content::Page(page(pieces, name, &body, first)?),
        Same::Rows { count, written } => {
            let rows = rows::read(&body, count, written).map_err(|error| format!("{name} answers {error}"))?;
            Content::Rows(rows)
        }
        _ => alike(same, name, &body).map(|()| Content::Known)?,
    };
    Ok(Answered { body: answer.body.len(), content })
}

/// The page, if it has the pieces and is that of the first variant.
fn page(pieces: &[(usize, &'static str)], name: &str, body: &[u8], first: Option<&Answered>) -> Result<String> {
    let page = page::normal(&String::from_utf8_lossy(body));
    for &(count, piece) in pieces {
        alike(Same::Times(count, piece), name, page.as_bytes())?;
    }
    if let Some(Answered { content: Content::Page(first), .. }) = first
        && let Some((wanted, found)) = page::difference(first, &page)
    {
        return Err(format!("{name} answers another page: {found:?} where the first has {wanted:?}").into());
    }
    Ok(page)
}

/// The body as it was before it was compressed.
fn decoded<'a>(name: &str, answer: &'a FetchedResponse) -> Result<Cow<'a, [u8]>> {
    match answer.field("content-encoding") {
        None => Ok(Cow::Borrowed(&answer.body)),
        Some("gzip") => {
            let mut body = Vec::new();
            GzDecoder::new(&*answer.body).read_to_end(&mut body).map_err(|error| format!("{name}: {error}"))?;
            Ok(Cow::Owned(body))
        }
        Some("zstd") => {
            let body = zstd::decode_all(&*answer.body).map_err(|error| format!("{name}: {error}"))?;
            Ok(Cow::Owned(body))
        }
        Some(other) => Err(format!("{name} answers in {other}, which nobody asked for").into()),
    }
}

fn alike(same: Same, name: &str, body: &[u8]) -> Result<()> {
    match same {
        Same::Text(text) if body != text.as_bytes() => {
            Err(format!("{name} does not answer {text:?} but {}", start(body)).into())
        }
        Same::Bytes(length) if body.len() != length => {
            Err(format!("{name} answers {} bytes where {length} are asked for: {}", body.len(), start(body)).into())
        }
        Same::Times(count, piece) if times(body, piece.as_bytes()) != count => {
            let found = times(body, piece.as_bytes());
            Err(format!("{name} answers a page with {found} times {piece:?} where {count} are asked for").into())
        }
        _ => Ok(()),
    }
}

fn times(mut body: &[u8], piece: &[u8]) -> usize {
    let mut count = 0;
    while let Some(place) = find(body, piece) {
        count += 1;
        body = &body[place + piece.len()..];
    }
    count
}

/// Where a piece begins.
fn find(bytes: &[u8], piece: &[u8]) -> Option<usize> {
    bytes.windows(piece.len()).position(|window| window == piece)
}

/// The beginning of a body, for an error.
fn start(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
    format!("{text:?}{}", if body.len() > 80 { "..." } else { "" })
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::experiment::Request;

    const KEPT: Load = Load::KeepAlive { connections: 1 };

    fn answer(status: u16, body: &str) -> FetchedResponse {
        FetchedResponse { status, fields: Vec::new(), body: body.into(), took: Duration::ZERO }
    }

    fn error(same: Same, answer: &FetchedResponse) -> String {
        check(same, KEPT, "skep", answer, None).unwrap_err().to_string()
    }

    #[test]
    fn another_answer_is_refused_and_shown() {
        let text = Same::Text("Hello, world!");
        assert!(check(text, KEPT, "skep", &answer(200, "Hello, world!"), None).is_ok());
        assert_eq!(error(text, &answer(200, "Hello!")), r#"skep does not answer "Hello, world!" but "Hello!""#);
        assert_eq!(error(text, &answer(404, "Nothing.")), r#"skep answers 404: "Nothing.""#);
    }

    #[test]
    fn a_compressed_answer_is_compared_as_it_was() {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(b"Hello, world!").unwrap();
        let mut compressed = answer(200, "");
        (compressed.body, compressed.fields) =
            (gzip.finish().unwrap(), vec![("content-encoding".to_owned(), "gzip".to_owned())]);
        let length = compressed.body.len();
        let wanted = Load::Requests { connections: 1, request: Request::Gzip };
        assert_eq!(check(Same::Text("Hello, world!"), wanted, "skep", &compressed, None).unwrap().body, length);
        let plain = check(Same::Text("Hello, world!"), wanted, "skep", &answer(200, "Hello, world!"), None);
        assert_eq!(plain.unwrap_err().to_string(), "skep does not compress its answer");
        assert!(error(Same::Text("Hello!"), &compressed).contains("Hello, world!"));
    }

    #[test]
    fn a_page_must_have_its_rows() {
        let twice = Same::Times(2, "<article");
        assert!(check(twice, KEPT, "skep", &answer(200, "<article></article><article></article>"), None).is_ok());
        assert!(error(twice, &answer(200, "<article></article>")).contains("1 times"));
    }

    #[test]
    fn a_page_must_be_that_of_the_first_variant() {
        let same = Same::Page(&[(1, "<p>")]);
        let first = check(same, KEPT, "skep", &answer(200, "<p>It's</p>"), None).unwrap();
        let other = |body| check(same, KEPT, "go", &answer(200, body), Some(&first));
        assert!(other("<p>\nIt&#39;s\n</p>").is_ok());
        let error = other("<p>Its</p>").unwrap_err().to_string();
        assert_eq!(error, r#"go answers another page: "Its" where the first has "It's""#);
        assert!(other("<p>It's</p><p></p>").is_err());
    }

    #[test]
    fn rows_are_known_to_who_looks_for_them_in_the_database() {
        let same = Same::Rows { count: 1, written: true };
        let answered = check(same, KEPT, "skep", &answer(200, r#"{"id":3,"randomNumber":9}"#), None).unwrap();
        assert_eq!(answered.rows(), Some(&Worlds::from([(3, vec![9])])));
    }
}
