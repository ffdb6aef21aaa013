//! An article as its author writes it: a Markdown file with a few lines of TOML in front.
//!
//! ```text
//! +++
//! title = "A service is a struct"
//! date = 2026-09-14
//! tags = ["services", "links"]
//! summary = "One or two plain sentences."
//! +++
//!
//! The text, in Markdown.
//! ```

use std::fmt;

use serde::Deserialize;
use skep::Slug;

/// What a file says.
#[derive(Clone, Debug, PartialEq)]
pub struct ArticleSource {
    /// From the file's name: its address.
    pub slug: Slug,
    /// The title.
    pub title: String,
    /// A day, as `2026-11-21`.
    pub published: String,
    /// Each once, in the author's order.
    pub tags: Vec<Slug>,
    /// For lists and feeds: plain text.
    pub summary: String,
    /// The text.
    pub markdown: String,
}

/// What is wrong with a file, and in which line.
#[derive(Debug, PartialEq)]
pub struct Broken {
    line: Option<usize>,
    problem: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.problem),
            None => f.write_str(&self.problem),
        }
    }
}

impl std::error::Error for Broken {}

fn broken(line: usize, problem: impl Into<String>) -> Broken {
    Broken { line: Some(line), problem: problem.into() }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    title: String,
    date: toml::value::Datetime,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    summary: String,
}

const FENCE: &str = "+++";

impl ArticleSource {
    /// Reads a file; `stem` is its name without `.md`.
    pub fn parse(stem: &str, bytes: &[u8]) -> Result<Self, Broken> {
        let slug = stem
            .parse()
            .map_err(|reason| Broken { line: None, problem: format!("its name is no address: {reason}") })?;
        let text = text(bytes)?;
        let (front, markdown) = split(text)?;
        let front: FrontMatter = toml::from_str(front).map_err(|error| {
            let before = error.span().map_or("", |span| &front[..span.start.min(front.len())]);
            // The fence is the first line of the file.
            broken(before.matches('\n').count() + 2, error.message())
        })?;
        Ok(Self {
            slug,
            title: one_line("title", &front.title)?,
            published: day(&front.date)?,
            tags: tags(&front.tags)?,
            summary: front.summary.trim().to_owned(),
            markdown: markdown.trim().to_owned(),
        })
    }

    /// The file that says this: what [`parse`](Self::parse) reads.
    #[must_use]
    pub fn to_text(&self) -> String {
        let tags: Vec<String> = self.tags.iter().map(|tag| quoted(tag.as_str())).collect();
        format!(
            "{FENCE}\ntitle = {}\ndate = {}\ntags = [{}]\nsummary = {}\n{FENCE}\n\n{}\n",
            quoted(&self.title),
            self.published,
            tags.join(", "),
            quoted(&self.summary),
            self.markdown
        )
    }
}

/// A basic string of TOML on one line: in a text of several lines, one could be a fence.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            _ if letter.is_control() => out.extend(format!("\\u{:04X}", u32::from(letter)).chars()),
            _ => out.push(letter),
        }
    }
    out.push('"');
    out
}

fn text(bytes: &[u8]) -> Result<&str, Broken> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let good = &bytes[..error.valid_up_to()];
        let line = good.split(|byte| *byte == b'\n').count();
        broken(line, format!("it is not UTF-8: byte 0x{:02x}; save it as UTF-8", bytes[error.valid_up_to()]))
    })
}

/// The lines between the fences, and what follows them.
fn split(text: &str) -> Result<(&str, &str), Broken> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.trim_end() != FENCE {
        return Err(broken(
            1,
            format!("the file begins with a line `{FENCE}`, then title and date, then `{FENCE}` again"),
        ));
    }
    let mut at = first.len();
    for line in lines {
        if line.trim_end() == FENCE {
            return Ok((&text[first.len()..at], &text[at + line.len()..]));
        }
        at += line.len();
    }
    Err(broken(1, format!("the front matter that begins here has no end: a second line `{FENCE}` is missing")))
}

fn one_line(name: &str, text: &str) -> Result<String, Broken> {
    let text = text.trim();
    if text.is_empty() || text.contains(['\n', '\r']) {
        return Err(Broken { line: None, problem: format!("{name} must be one line of text") });
    }
    Ok(text.to_owned())
}

fn day(date: &toml::value::Datetime) -> Result<String, Broken> {
    match date {
        toml::value::Datetime { date: Some(day), .. } => Ok(day.to_string()),
        _ => Err(Broken { line: None, problem: format!("date = {date} has no day: write date = 2026-11-21") }),
    }
}

fn tags(names: &[String]) -> Result<Vec<Slug>, Broken> {
    let mut tags: Vec<Slug> = Vec::new();
    for name in names {
        let tag = name.parse().map_err(|reason| Broken { line: None, problem: format!("tag {name:?}: {reason}") })?;
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    Ok(tags)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "+++\ntitle = \"A day\"\ndate = 2026-11-21\ntags = [\"b\", \"a\", \"b\"]\n+++\n\nText.\n";

    fn complaint(text: impl AsRef<[u8]>) -> String {
        ArticleSource::parse("a-day", text.as_ref()).unwrap_err().to_string()
    }

    #[test]
    fn a_file_says_all_it_says() {
        let source = ArticleSource::parse("a-day", GOOD.as_bytes()).unwrap();
        assert_eq!((source.title.as_str(), source.published.as_str()), ("A day", "2026-11-21"));
        assert_eq!(source.tags, ["b".parse().unwrap(), "a".parse().unwrap()]);
        assert_eq!(source.markdown, "Text.");
        assert_eq!(ArticleSource::parse("a-day", GOOD.replace('\n', "\r\n").as_bytes()).unwrap(), source);
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        let source = ArticleSource::parse("a-day", GOOD.as_bytes()).unwrap();
        let odd = ArticleSource {
            title: "A \"day\" \\ in '26 🐝".into(),
            summary: "Two\n+++\nlines \u{7f}, ' and \"".into(),
            markdown: "+++\n\nNot the front.".into(),
            ..source.clone()
        };
        for source in [source, odd] {
            assert_eq!(ArticleSource::parse("a-day", source.to_text().as_bytes()).unwrap(), source);
        }
    }

    #[test]
    fn what_is_broken_is_named_with_its_line() {
        assert_eq!(complaint(b"+++\n\xff\n"), "line 2: it is not UTF-8: byte 0xff; save it as UTF-8");
        assert!(complaint("title = 1").starts_with("line 1: the file begins with a line `+++`"));
        assert!(complaint("+++\ntitle = \"x\"\n").contains("a second line `+++` is missing"));
        assert!(
            complaint(GOOD.replace("date", "dtae")).starts_with("line 3: unknown field `dtae`"),
            "{}",
            complaint(GOOD.replace("date", "dtae"))
        );
        assert!(complaint(GOOD.replace("2026-11-21", "2026-13-21")).starts_with("line 3:"));
        assert!(complaint(GOOD.replace("\"A day\"", "\" \"")).contains("title must be one line"));
        assert!(complaint(GOOD.replace("\"a\"", "\"A b\"")).contains("tag \"A b\""));
        assert!(ArticleSource::parse("A day", GOOD.as_bytes()).is_err());
    }
}
