//! Whether the variants of an experiment answer the same.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::GzDecoder;

use crate::Result;
use crate::experiment::{Load, Same};
use crate::load::Answer;

/// What a variant answered before the load began.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    pub(crate) body: usize,
}

/// Checks a variant's answer to a request of this load.
pub(crate) fn check(same: Same, load: Load, name: &str, answer: &Answer) -> Result<Answered> {
    if answer.status != 200 {
        return Err(format!("{name} answers {}: {}", answer.status, start(&answer.body)).into());
    }
    if load.wants_compression() && answer.field("content-encoding").is_none() {
        return Err(format!("{name} does not compress its answer").into());
    }
    alike(same, name, &decoded(name, answer)?)?;
    Ok(Answered { body: answer.body.len() })
}

/// The body as it was before it was compressed.
fn decoded<'a>(name: &str, answer: &'a Answer) -> Result<Cow<'a, [u8]>> {
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

    fn answer(status: u16, body: &str) -> Answer {
        Answer { status, fields: Vec::new(), body: body.into(), took: Duration::ZERO }
    }

    fn error(same: Same, answer: &Answer) -> String {
        check(same, KEPT, "skep", answer).unwrap_err().to_string()
    }

    #[test]
    fn another_answer_is_refused_and_shown() {
        let text = Same::Text("Hello, world!");
        assert!(check(text, KEPT, "skep", &answer(200, "Hello, world!")).is_ok());
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
        assert_eq!(check(Same::Text("Hello, world!"), wanted, "skep", &compressed).unwrap().body, length);
        let plain = check(Same::Text("Hello, world!"), wanted, "skep", &answer(200, "Hello, world!"));
        assert_eq!(plain.unwrap_err().to_string(), "skep does not compress its answer");
        assert!(error(Same::Text("Hello!"), &compressed).contains("Hello, world!"));
    }

    #[test]
    fn a_page_must_have_its_rows() {
        let twice = Same::Times(2, "<article");
        assert!(check(twice, KEPT, "skep", &answer(200, "<article></article><article></article>")).is_ok());
        assert!(error(twice, &answer(200, "<article></article>")).contains("1 times"));
    }
}
