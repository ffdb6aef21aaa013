//! Whether the variants of an experiment answer the same.

use crate::Result;
use crate::experiment::Same;
use crate::load::Answer;

/// What a variant answered before the load began.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    pub(crate) body: usize,
}

/// Checks a variant's answer.
pub(crate) fn check(same: Same, name: &str, answer: &Answer) -> Result<Answered> {
    if answer.status != 200 {
        return Err(format!("{name} answers {}: {}", answer.status, start(&answer.body)).into());
    }
    alike(same, name, &answer.body)?;
    Ok(Answered { body: answer.body.len() })
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
    use std::time::Duration;

    use super::*;

    fn answer(status: u16, body: &str) -> Answer {
        Answer { status, fields: Vec::new(), body: body.into(), took: Duration::ZERO }
    }

    fn error(same: Same, answer: &Answer) -> String {
        check(same, "skep", answer).unwrap_err().to_string()
    }

    #[test]
    fn another_answer_is_refused_and_shown() {
        let text = Same::Text("Hello, world!");
        assert!(check(text, "skep", &answer(200, "Hello, world!")).is_ok());
        assert_eq!(error(text, &answer(200, "Hello!")), r#"skep does not answer "Hello, world!" but "Hello!""#);
        assert_eq!(error(text, &answer(404, "Nothing.")), r#"skep answers 404: "Nothing.""#);
    }

    #[test]
    fn a_page_must_have_its_rows() {
        let twice = Same::Times(2, "<article");
        assert!(check(twice, "skep", &answer(200, "<article></article><article></article>")).is_ok());
        assert!(error(twice, &answer(200, "<article></article>")).contains("1 times"));
    }
}
