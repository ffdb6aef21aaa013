//! Whether variants give the same answer: a faster one that answers less is not faster.

use super::super::Failure;
use super::super::load::ask_once;
use super::Entrant;
use crate::load::FetchedResponse;

/// Requests of a long list that are compared at most.
const MOST: usize = 50;

/// Asks each variant each request, and compares. What differs, if it may.
pub(super) fn check(entrants: &mut [Entrant], may_differ: bool) -> Result<Vec<String>, Failure> {
    let requests: Vec<_> =
        entrants[0].plan.requests.iter().filter(|request| request.is_safe()).take(MOST).cloned().collect();
    let mut differences = Vec::new();
    for request in &requests {
        let mut first: Option<(String, FetchedResponse)> = None;
        for entrant in entrants.iter_mut() {
            let name = entrant.variant.name.clone();
            let answer = ask_once(&entrant.plan, request).map_err(|error| format!("{name}: {error}"))?;
            if entrant.variant.answer.is_none() {
                entrant.variant.answer = Some(format!("{}, {} bytes", answer.status, answer.body.len()));
            }
            let Some((other, expected)) = &first else {
                first = Some((name, answer));
                continue;
            };
            if let Some(how) = differ(expected, &answer) {
                differences.push(format!("{}: {other} and {name} give different answers: {how}", request.path()));
            }
        }
    }
    if requests.is_empty() {
        differences.push("no answers were compared: asking once more may change something".to_owned());
    } else if !may_differ && !differences.is_empty() {
        return Err(Failure::Run(format!("{}\n(--may-differ measures them all the same)", differences.join("\n"))));
    }
    Ok(differences)
}

/// How two answers differ, if they do: in status, type, coding or body.
fn differ(one: &FetchedResponse, other: &FetchedResponse) -> Option<String> {
    if one.status != other.status {
        return Some(format!("status {} and {}", one.status, other.status));
    }
    for name in ["content-type", "content-encoding"] {
        // Which charset a type names is a matter of configuration, and costs nothing.
        let kind = |answer: &FetchedResponse| {
            answer.field(name).unwrap_or("none").split(';').next().unwrap_or_default().to_owned()
        };
        if kind(one) != kind(other) {
            return Some(format!("{name}: {} and {}", kind(one), kind(other)));
        }
    }
    if one.body == other.body {
        return None;
    }
    let at = one.body.iter().zip(&other.body).take_while(|(one, other)| one == other).count();
    let around = |body: &[u8]| {
        String::from_utf8_lossy(&body[at.saturating_sub(10).min(body.len())..(at + 20).min(body.len())]).into_owned()
    };
    Some(format!(
        "{} and {} bytes, and from byte {at} on {:?} and {:?}",
        one.body.len(),
        other.body.len(),
        around(&one.body),
        around(&other.body)
    ))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn answer(status: u16, kind: &str, body: &str) -> FetchedResponse {
        let fields = vec![("content-type".to_owned(), kind.to_owned())];
        FetchedResponse { status, fields, body: body.into(), took: Duration::ZERO }
    }

    #[test]
    fn it_is_said_how_two_answers_differ() {
        let one = answer(200, "text/plain", "Hello, world!");
        assert_eq!(differ(&one, &one), None);
        assert_eq!(differ(&one, &answer(200, "text/plain; charset=utf-8", "Hello, world!")), None);
        assert_eq!(differ(&one, &answer(404, "text/plain", "")).unwrap(), "status 200 and 404");
        assert_eq!(differ(&one, &answer(200, "text/html", "")).unwrap(), "content-type: text/plain and text/html");
        assert_eq!(
            differ(&one, &answer(200, "text/plain", "Hello, earth!!")).unwrap(),
            "13 and 14 bytes, and from byte 7 on \"Hello, world!\" and \"Hello, earth!!\""
        );
    }
}
