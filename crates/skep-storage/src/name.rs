//! Names that users give to files, made safe to show and to save under.

/// The most bytes of a name: file systems have 255, and copies get something added.
const MOST: usize = 160;

/// The last segment of what a user calls a file, without what hides, reorders or ends a text. Never empty, and never
/// hidden.
pub(crate) fn safe(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = name.chars().filter(|&letter| !is_refused(letter)).collect();
    let name = name.trim_matches(|letter: char| letter == '.' || letter.is_whitespace());
    if name.is_empty() { "file".to_owned() } else { shortened(name) }
}

/// The name with this ending instead of its own.
#[cfg(feature = "image")]
pub(crate) fn with_ending(name: &str, ending: &str) -> String {
    let name = safe(name);
    let stem = name.rsplit_once('.').map_or(&*name, |(stem, _)| stem);
    format!("{stem}.{ending}")
}

/// Control characters, marks of direction (U+202E shows `exe.png` for `gnp.exe`), what has no width, and what some
/// systems refuse in names.
fn is_refused(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || matches!(letter, '"' | '<' | '>' | ':' | '|' | '?' | '*')
}

/// Keeps the ending.
fn shortened(name: &str) -> String {
    if name.len() <= MOST {
        return name.to_owned();
    }
    let ending = name.rfind('.').map_or("", |at| &name[at..]);
    let ending = if ending.len() <= 16 { ending } else { "" };
    let stem = &name[..name.floor_char_boundary(MOST - ending.len())];
    format!("{}{ending}", stem.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_segment_that_is_shown_as_it_is() {
        for (said, name) in [
            ("../../etc/passwd", "passwd"),
            ("C:\\Users\\Ann\\Grüße.pdf", "Grüße.pdf"),
            ("日本語 写真.jpg", "日本語 写真.jpg"),
            (".htaccess", "htaccess"),
            ("..", "file"),
            ("", "file"),
            ("a\r\nb\0.txt", "ab.txt"),
            ("photo\u{202e}gnp.exe", "photognp.exe"),
            (" con\"<x>: ?.txt ", "conx .txt"),
        ] {
            assert_eq!(safe(said), name, "{said:?}");
        }
    }

    #[cfg(feature = "image")]
    #[test]
    fn a_name_gets_another_ending() {
        for (said, name) in [("me.png", "me.jpg"), ("a.b.jpeg", "a.b.jpg"), ("me", "me.jpg"), ("", "file.jpg")] {
            assert_eq!(with_ending(said, "jpg"), name, "{said:?}");
        }
    }

    #[test]
    fn a_long_name_keeps_its_ending() {
        let name = safe(&format!("{}.jpeg", "ü".repeat(200)));
        assert!(name.len() <= MOST && name.ends_with("ü.jpeg"), "{name}");
    }
}
