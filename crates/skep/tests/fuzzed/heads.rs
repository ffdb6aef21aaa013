//! Values of header fields that are written in many ways: the heads of a form's parts, and the languages that somebody
//! reads.
#![allow(unreachable_pub, reason = "as a module of a test nobody reaches it")]

use std::fmt::Write as _;
use std::sync::Arc;

use http::HeaderValue;
use skep::form::Messages;
use skep::prelude::*;
use skep::{Body, LocalSite, Request, Setup};

use super::draw::Draw;
use super::properties::{at_once, http_request, post_files, text};

/// RFC 2046, 5.1.1. A space is not the last one.
const BOUNDARY: &[u8] = b"abz09'()+_,-./:=? ";

const LETTERS: [char; 16] =
    ['a', 'b', 'Z', '.', ' ', ';', '=', ',', '\'', '"', '\\', '/', '\u{e9}', '\u{20ac}', '*', '-'];

/// A text between quotes (RFC 9110, 5.6.4).
fn quoted(draw: &mut Draw<'_>, text: &str) -> String {
    let mut out = String::from('"');
    for letter in text.chars() {
        match letter {
            // As browsers write it (HTML, 4.10.22.8).
            '"' if draw.bool() => out.push_str("%22"),
            '"' | '\\' => out.extend(['\\', letter]),
            _ => out.push(letter),
        }
    }
    out + "\""
}

/// RFC 8187.
fn extended(draw: &mut Draw<'_>, text: &str) -> String {
    let mut out = draw.one_of(&["UTF-8''", "utf-8'en'", "UTF-8'de-AT'"]).to_owned();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The head of a part for a field, perhaps of a file.
fn head(draw: &mut Draw<'_>, name: &str, file: Option<&str>, kind: &str) -> String {
    let mut parameters = vec![format!("name={}", if draw.bool() { name.to_owned() } else { quoted(draw, name) })];
    if let Some(file) = file {
        // Where both are there, the one that all know counts.
        let how = draw.below(3);
        if how > 0 {
            parameters.push(format!("filename={}", quoted(draw, file)));
        }
        if how < 2 {
            parameters.push(format!("filename*={}", extended(draw, if how == 0 { file } else { "other" })));
        }
    }
    let turn = draw.below(parameters.len());
    parameters.rotate_left(turn);
    let between = draw.one_of(&[";", "; ", " ;\t", ";\r\n ", "; x=\"y;z\"; "]);
    let parameters = parameters.iter().fold(String::new(), |all, parameter| all + between + parameter);
    let disposition = draw.one_of(&["Content-Disposition", "content-disposition", "CONTENT-DISPOSITION"]);
    let mut lines = vec![format!("{disposition}:{}form-data{parameters}", draw.one_of(&[" ", "", "\t"]))];
    if !kind.is_empty() {
        lines.push(format!("Content-type: {kind}"));
    }
    if draw.bool() {
        lines.push("X-Name: name=\"other\"".to_owned());
    }
    let turn = draw.below(lines.len());
    lines.rotate_left(turn);
    lines.join("\r\n")
}

/// Names and files of a form are what they are, whichever way their heads and the boundary are written.
///
/// # Panics
/// If that does not hold.
pub fn part_heads(data: &[u8]) {
    let mut draw = Draw(data);
    let length = draw.below(12) + 1;
    let mut boundary: String = (0..length).map(|_| char::from(draw.one_of(BOUNDARY))).collect();
    boundary.push('b');
    let (mut body, mut texts, mut files) = (String::from("a preamble"), Vec::new(), Vec::new());
    for _ in 0..draw.below(5) {
        let length = draw.below(8);
        let content = (0..length).map(|_| draw.one_of(&["x", "\r\n", "-", "\r", "b"])).collect::<String>();
        // With what is before and behind it.
        if format!("\r\n{content}\r\n").contains(&format!("\r\n--{boundary}")) {
            return;
        }
        let head = if draw.bool() {
            texts.extend(Some(content.clone()).filter(|text| !text.is_empty()));
            head(&mut draw, "text", None, "")
        } else {
            let length = draw.below(10);
            let name: String = (0..length).map(|_| draw.one_of(&LETTERS)).collect();
            let kind = draw.one_of(&["", "text/plain", "image/png"]);
            let shown = name.rsplit(['/', '\\']).next().unwrap_or_default();
            if !name.is_empty() || !content.is_empty() {
                files.push(format!("{:?}", (shown, kind, bytes::Bytes::from(content.clone()))));
            }
            head(&mut draw, "file", Some(&name), kind)
        };
        let space = draw.one_of(&["", " ", "\t "]);
        let _ = write!(body, "\r\n--{boundary}{space}\r\n{head}\r\n\r\n{content}");
    }
    let _ = write!(body, "\r\n--{boundary}--\r\nan epilogue");
    let is_token = boundary.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"'+_-.".contains(&byte));
    let written = if is_token && draw.bool() { boundary } else { quoted_pairs(&mut draw, &boundary) };
    let kind = format!(
        "{}; charset=utf-8 ;{}Boundary={written}",
        draw.one_of(&["multipart/form-data", "Multipart/Form-Data"]),
        draw.one_of(&["", " "])
    );
    let expected: Vec<String> = std::iter::once(format!("{texts:?}")).chain(files).collect();
    assert_eq!(post_files(&kind, body.clone().into_bytes()), (200, expected.join("\n")), "{kind} {body:?}");
}

/// A backslash may stand before anything (RFC 9110, 5.6.4).
fn quoted_pairs(draw: &mut Draw<'_>, text: &str) -> String {
    let pair = |letter: char| if draw.below(4) == 0 { format!("\\{letter}") } else { letter.to_string() };
    format!("\"{}\"", text.chars().map(pair).collect::<String>())
}

/// Says which language it is.
#[derive(Service)]
#[service(GET "/language")]
struct Language;

impl Handle for Language {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(cx.language()))
    }
}

/// Those of the application, the first of them for who says nothing.
const LANGUAGES: [&str; 9] = ["en", "de-AT", "de", "zh-Hans", "zh-Hant", "sr-Latn-RS", "sr", "pt-BR", "es"];

const RANGES: [&str; 24] = [
    "en",
    "EN-us",
    "de",
    "de-at",
    "de-AT-1996",
    "de-CH",
    "de-x-de-AT",
    "zh",
    "zh-TW",
    "zh-Hant-HK",
    "zh-CN",
    "zh-Latn",
    "sr-Latn",
    "sr-latn-ME",
    "sr-Cyrl-RS",
    "sr-x-private",
    "pt",
    "pt-PT",
    "es-419",
    "fr",
    "d",
    "*",
    "*",
    "deu",
];

const WEIGHTS: [(&str, u16); 12] = [
    ("", 1000),
    (";q=1", 1000),
    ("; Q=1.000", 1000),
    (";q=0", 0),
    (" ; q=0.000", 0),
    (";q=0.5", 500),
    (";q=0.50", 500),
    (";level=1;q=0.499", 499),
    (";q=0.001", 1),
    (";q=0.9", 900),
    (";q=1.", 1000),
    (";q=0.", 0),
];

/// Malformed elements, which are passed over.
const MALFORMED: [&str; 5] = ["en;q=2", "de;q=0.1234", "zh;q=", ";q=1", "pt;q=-1"];

fn is_within(tag: &str, range: &str) -> bool {
    tag == range || tag.starts_with(&format!("{range}-"))
}

/// How it is written, of a tag in small letters.
fn script(tag: &str) -> Option<&'static str> {
    let of_subtag = |subtag| {
        Some(match subtag {
            "hant" => "hant",
            "hans" => "hans",
            "latn" => "latn",
            "cyrl" => "cyrl",
            "tw" | "hk" if tag.starts_with("zh-") => "hant",
            "cn" if tag.starts_with("zh-") => "hans",
            _ => return None,
        })
    };
    tag.split('-').find_map(of_subtag)
}

/// How well a language serves a range: the less, the better.
fn rank(tag: &str, range: &str) -> Option<usize> {
    let subtags: Vec<&str> = range.split('-').collect();
    let (primary, place) = (subtags[0], LANGUAGES.iter().position(|language| language.eq_ignore_ascii_case(tag))?);
    if tag.contains('-') && is_within(range, tag) {
        return Some(subtags.len() - tag.split('-').count());
    }
    if !is_within(tag, primary) {
        return None;
    }
    match (script(tag), script(range)) {
        (Some(one), Some(other)) if one == other => Some(100 + place),
        _ if tag == primary => Some(200),
        (Some(_), Some(_)) => None,
        _ => Some(300 + place),
    }
}

/// Who reads any list of languages gets the one that suits best (RFC 4647, 3.4; RFC 9110, 12.5.4), by a plain rank of
/// all of them.
///
/// # Panics
/// If that does not hold.
pub fn languages(data: &[u8]) {
    let mut draw = Draw(data);
    let (mut ranges, mut lines) = (Vec::new(), vec![String::new()]);
    // Of more ranges nothing is read.
    while !draw.0.is_empty() && ranges.len() < 32 {
        let line = lines.last_mut().expect("there is one");
        match draw.below(12) {
            0 => line.push_str(draw.one_of(&MALFORMED)),
            1 => lines.push(String::new()),
            _ => {
                let (range, (weight, thousandths)) = (draw.one_of(&RANGES), draw.one_of(&WEIGHTS));
                let _ = write!(line, "{range}{weight}");
                ranges.push((range.to_ascii_lowercase(), thousandths));
            }
        }
        if let Some(line) = lines.last_mut().filter(|line| !line.is_empty()) {
            line.push_str(draw.one_of(&[",", ", ", " ,\t,"]));
        }
    }
    let tags = LANGUAGES.map(str::to_ascii_lowercase);
    let found = |range: &str| {
        let excluded = |tag: &str| {
            let better = |other: &str| other.len() > range.len() || !is_within(tag, range);
            ranges.iter().any(|(other, weight)| *weight == 0 && is_within(tag, other) && better(other))
        };
        let is_named = |tag: &str| ranges.iter().any(|(other, _)| is_within(tag, other));
        let mut places = 0..tags.len();
        if range == "*" {
            return places.find(|place| !is_named(&tags[*place]));
        }
        let ranked = places
            .filter(|place| !excluded(&tags[*place]))
            .filter_map(|place| Some((rank(&tags[place], range)?, place)));
        ranked.min().map(|(_, place)| place)
    };
    let mut by_weight: Vec<_> = ranges.iter().filter(|(_, weight)| *weight > 0).collect();
    by_weight.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
    let expected = LANGUAGES[by_weight.into_iter().find_map(|(range, _)| found(range)).unwrap_or(0)];
    assert_eq!(language(&lines), expected, "{lines:?}");
}

fn language(lines: &[String]) -> String {
    thread_local! { static LOCAL: LocalSite = local(); }
    let mut request = http_request("GET", "/language");
    for line in lines {
        request = request.header("accept-language", HeaderValue::from_str(line).expect("it is a value"));
    }
    let (parts, ()) = request.body(()).expect("it is a request").into_parts();
    let response = LOCAL.with(|local| at_once(local.answer(Request::new(parts, Body::empty()))));
    String::from_utf8(at_once(text(response.into_body()))).expect("the answer is text")
}

fn local() -> LocalSite {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    setup.data = std::env::temp_dir();
    let languages = LANGUAGES.map(|language| Messages { language, ..Messages::ENGLISH });
    let site: Arc<_> =
        App::new().serve(services![Language]).languages(languages).open(setup).expect("it starts").into();
    site.local()
}
