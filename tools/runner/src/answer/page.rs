//! Pages that say the same in other characters.

/// A page, its tags and texts one to a line, without blanks around them and with characters written in one way.
pub(super) fn normal(page: &str) -> String {
    let mut lines = Vec::new();
    let mut rest = page;
    while let Some(begin) = rest.find('<') {
        lines.push(text(&rest[..begin]));
        let end = rest[begin..].find('>').map_or(rest.len(), |end| begin + end + 1);
        lines.push(decoded(&rest[begin..end]));
        rest = &rest[end..];
    }
    lines.push(text(rest));
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

/// Where two pages differ first, for an error.
pub(super) fn difference(one: &str, other: &str) -> Option<(String, String)> {
    let mut lines = one.lines().map(Some).chain([None]).zip(other.lines().map(Some).chain([None]));
    let (one, other) = lines.find(|(one, other)| one != other)?;
    Some((one.unwrap_or("its end").to_owned(), other.unwrap_or("its end").to_owned()))
}

/// A text keeps apart what is no markup.
fn text(text: &str) -> String {
    decoded(text.trim()).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Without character references.
fn decoded(text: &str) -> String {
    let mut pieces = text.split('&');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |done, piece| {
        match piece.split_once(';').and_then(|(name, rest)| Some((char_of(name)?, rest))) {
            Some((char, rest)) => format!("{done}{char}{rest}"),
            None => format!("{done}&{piece}"),
        }
    })
}

fn char_of(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let hex = number.strip_prefix(['x', 'X']).map(|hex| u32::from_str_radix(hex, 16));
            char::from_u32(hex.unwrap_or_else(|| number.parse()).ok()?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_around_tags_and_ways_to_write_a_character_make_no_difference() {
        let one = normal("<p>\n It&#39;s &lt;b&gt; &amp; <i>more</i></p>");
        assert_eq!(one, "<p>\nIt's &lt;b&gt; &amp;\n<i>\nmore\n</i>\n</p>");
        assert_eq!(one, normal("<p>It&apos;s &#60;b> &#x26; <i>more </i>\n</p>\n"));
    }

    #[test]
    fn markup_is_no_text() {
        let (text, markup) = (normal("<p>&lt;script&gt;</p>"), normal("<p><script></p>"));
        assert_eq!(difference(&text, &markup), Some(("&lt;script&gt;".into(), "<script>".into())));
        assert_eq!(difference(&text, &text), None);
        assert_eq!(difference("<p>", "<p>\nmore"), Some(("its end".into(), "more".into())));
    }
}
