//! How values are written: text, numbers, JSON, and pieces one after the other.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures_util::stream;
use skep::html;
use skep::html::{Buffer, Html, Json, Script};

fn both(source: &str) -> (String, String) {
    let (mut in_text, mut in_quotes) = (Buffer::new(), Buffer::new());
    in_text.push_text(source);
    in_quotes.push_plain(source);
    (in_text.as_str().to_owned(), in_quotes.as_str().to_owned())
}

#[test]
fn each_place_escapes_what_it_must_and_no_more() {
    let (in_text, in_quotes) = both("&amp; <b c=\"d\" e='f'>\r\n");
    assert_eq!(in_text, "&amp;amp; &lt;b c=\"d\" e='f'&gt;&#13;\n");
    assert_eq!(in_quotes, "&amp;amp; &lt;b c=&quot;d&quot; e='f'&gt;&#13;\n");
}

#[test]
fn a_special_character_is_found_at_every_offset() {
    for before in 0..70 {
        for after in [0, 1, 15, 16, 17, 40] {
            let (clean, rest) = ("é".repeat(before), "x".repeat(after));
            let (in_text, _) = both(&format!("{clean}<{rest}"));
            assert_eq!(in_text, format!("{clean}&lt;{rest}"));
        }
    }
}

#[test]
fn numbers_are_written_as_display_writes_them() {
    let mut numbers = vec![0, 1, u64::MAX, u64::MAX - 1];
    let mut power = 1u64;
    for _ in 0..19 {
        power *= 10;
        numbers.extend([power - 1, power, power + 1, power / 2, power / 3]);
    }
    for number in numbers {
        assert_eq!(html! { (number) }.as_str(), number.to_string());
        assert_eq!(html! { (number.cast_signed()) }.as_str(), number.cast_signed().to_string());
    }
}

fn script(value: impl Script) -> String {
    let mut out = Buffer::new();
    value.write_script(&mut out);
    out.as_str().to_owned()
}

#[test]
fn json_comes_back_and_cannot_end_a_script() {
    let nasty = "</script><!--\u{2028}\u{2029}&\"'\\é\r\n\0";
    let written = script(Json(nasty));
    assert!(!written.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{written}");
    assert_eq!(serde_json::from_str::<String>(&written).unwrap(), nasty);
}

#[test]
fn what_json_cannot_hold_is_null() {
    let keys = std::collections::BTreeMap::from([((1, 2), 3)]);
    assert_eq!(script(Json(keys)), "null");
}

/// The text of each chunk, and of the error.
fn chunks(pieces: impl IntoIterator<Item = Result<Html, &'static str>, IntoIter: Send + 'static>) -> Vec<String> {
    let mut body = html::stream(stream::iter(pieces));
    let mut cx = Context::from_waker(Waker::noop());
    let frames = std::iter::from_fn(|| match http_body::Body::poll_frame(Pin::new(&mut body), &mut cx) {
        Poll::Ready(frame) => frame,
        Poll::Pending => panic!("all pieces are ready"),
    });
    let texts = frames.map(|frame| match frame {
        Ok(frame) => String::from_utf8(frame.into_data().expect("it is data").to_vec()).expect("it is text"),
        Err(error) => error.to_string(),
    });
    texts.collect()
}

#[test]
fn pieces_are_sent_one_by_one_and_empty_ones_are_not() {
    let piece = |html| Ok(Html::trusted(html));
    assert_eq!(chunks([piece("<p>"), piece(""), piece("</p>")]), ["<p>", "</p>"]);
}

#[test]
fn an_error_breaks_the_page_off() {
    assert_eq!(chunks([Ok(Html::trusted("<p>")), Err("no more rows")]), ["<p>", "no more rows"]);
}
