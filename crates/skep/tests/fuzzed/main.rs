//! The properties that `cargo fuzz` looks for exceptions to, for some hundred inputs in each run. `tools/fuzz` includes
//! the modules.

mod draw;
mod heads;
mod properties;
mod values;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// What the formats give a meaning to, and what borders on it.
const PIECES: &[&str] = &[
    "a",
    "b",
    "c",
    "d",
    "e",
    "f",
    "g",
    "h",
    "i",
    "j",
    "k",
    "l",
    "m",
    "=",
    "=",
    "=",
    "&",
    "&",
    "&",
    "%",
    "+",
    "%2",
    "%20",
    "%00",
    "%C3%A9",
    "%ff",
    "n.0.name",
    "n.1.count",
    "n.9.gift",
    "n.01.id",
    "n.",
    "on",
    "note",
    "-1",
    "9",
    "0.5",
    "1e3",
    "2026-11-21",
    "18:30",
    "T",
    "https://x.example",
    "@",
    "\r\n",
    "\n",
    "\u{e9}",
    "\u{1}",
    "\u{0}",
    ".",
    "..",
    "/",
    "//",
    "\\",
    "?",
    "#",
    "q",
    "list",
    "~",
    "~.",
    "text",
    "-7/",
    ";",
    ":",
    "\"",
];

const PARTS: &[&str] = &[
    "--b\r\n",
    "--b\r\n",
    "--b--",
    "\r\n--b\r\n",
    "\r\n--b--\r\n",
    "--",
    "\r\n",
    "\r\n\r\n",
    "\r",
    "\n",
    " ",
    "\t",
    "Content-Disposition: form-data; name=\"text\"\r\n\r\n",
    "Content-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n",
    "content-disposition:form-data;name=file;filename=b\r\nContent-Type: text/plain\r\n\r\n",
    "Content-Disposition: form-data; name=\"fi\\\"le\r\n\r\n",
    "; filename*=UTF-8''%41",
    "x",
    "\u{0}",
    "\u{e9}",
    "--bb",
];

const COOKIES: &[&str] = &["mine", "=", "=", ";", ";", " ", "\t", "\"", "\"", "a", "mine=x", "\u{e9}", ",", "min"];

const SEALED: &[&str] =
    &["\u{0}", "a", "purpose", "\u{e9}", "\"", "application: ", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"];

/// How it asks, the number of values, and values of each type.
const PACKED: &[&str] = &[
    "\u{0}\u{2}\u{0}\u{0}\u{0}",
    "\u{4}\u{2}\u{0}\u{0}\u{0}",
    "\u{8}\u{2}\u{0}\u{0}\u{0}",
    "\u{0}",
    "\u{1}abcdefgh",
    "\u{2}abcdefgh",
    "\u{2}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}",
    "\u{3}\u{2}\u{0}\u{0}\u{0}\u{e9}",
    "\u{4}\u{1}\u{0}\u{0}\u{0}x",
];

fn joined(pieces: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    vec(select(pieces), 0..40).prop_map(|pieces| pieces.concat().into_bytes())
}

/// Bytes that mean something, bytes that mean nothing, and the one among the other.
fn bytes(pieces: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let noise = || vec(any::<u8>(), 0..20);
    prop_oneof![
        4 => joined(pieces),
        1 => vec(any::<u8>(), 0..200),
        2 => (joined(pieces), noise(), joined(pieces)).prop_map(|(one, noise, other)| [one, noise, other].concat()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn a_form_is_decoded_as_the_url_standard_says(data in bytes(PIECES)) {
        properties::form(&data);
    }

    #[test]
    fn a_form_with_files_is_read_the_same_in_any_pieces(data in bytes(PARTS)) {
        properties::multipart(&data);
    }

    #[test]
    fn what_a_browser_sends_arrives_as_it_is(
        texts in vec("[^\u{0}]{0,30}", 0..4),
        files in vec(("[^\u{0}\\\\%\"\r\n]{0,10}", vec(any::<u8>(), 0..200)), 0..4),
    ) {
        let has_boundary = |bytes: &[u8]| bytes.windows(3).any(|window| window == b"--b");
        prop_assume!(!texts.iter().any(|text| has_boundary(text.as_bytes())));
        prop_assume!(!files.iter().any(|(_, content)| has_boundary(content)));
        properties::sent_and_received(&texts, &files);
    }

    #[test]
    fn an_address_is_answered_and_its_link_leads_to_the_same(data in bytes(PIECES)) {
        properties::address(&data);
    }

    #[test]
    fn a_link_leads_back_to_its_values(data in bytes(PIECES)) {
        properties::link(&data);
    }

    #[test]
    fn a_cookie_is_the_first_pair_of_its_name(data in bytes(COOKIES)) {
        values::cookies(&data);
    }

    #[test]
    fn what_was_sealed_opens_with_its_purpose_and_nothing_else_does(data in bytes(SEALED)) {
        values::sealed(&data);
    }

    #[test]
    fn a_part_of_a_form_is_what_it_is_however_its_head_is_written(data in vec(any::<u8>(), 0..200)) {
        heads::part_heads(&data);
    }

    #[test]
    fn everybody_gets_the_language_that_suits_best(data in vec(any::<u8>(), 0..60)) {
        heads::languages(&data);
    }

    #[test]
    fn values_that_a_component_packs_come_back_as_they_are(data in bytes(PACKED)) {
        values::packed(&data);
    }
}

/// Lines that look like a delimiter, and what a browser writes in place of a quotation mark.
#[test]
fn a_file_comes_out_as_it_went_in_however_it_is_cut() {
    let content = b"\r\n--\r\n-b\r";
    properties::sent_and_received(&["1".to_owned()], &[("q\".txt".to_owned(), content.to_vec())]);
    let head = "--b\r\nContent-Disposition: form-data; name";
    let body = [
        format!("{head}=text\r\n\r\n1\r\n{head}=\"file\"; filename=\"q%22.txt\"\r\n\r\n").as_bytes(),
        content,
        b"\r\n--b--\r\n",
    ]
    .concat();
    for size in 0..64 {
        properties::multipart(&[&[size], &body[..]].concat());
    }
}
