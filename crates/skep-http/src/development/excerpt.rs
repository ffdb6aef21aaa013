//! Excerpts of an application's source: the line that is meant, and those around it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use skep_html::{Html, html};

use crate::error::Error;
use crate::ext::ErrorExt as _;

/// Lines before and after the one that is meant.
const AROUND: usize = 4;

/// The most excerpts that are shown.
const MOST: usize = 6;

/// A line of source text, in its surroundings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    file: String,
    line: usize,
    /// The number of the first of `lines`.
    first: usize,
    lines: Vec<String>,
}

impl Excerpt {
    /// Where the error was made, and the frames of the application that led there; the innermost first.
    pub(super) fn all_of(error: &Error) -> Vec<Self> {
        let Some(root) = root() else { return Vec::new() };
        let made = error.place().map(|place| (place.file().to_owned(), place.line() as usize));
        let frames = error.backtrace().unwrap_or_default().lines().filter_map(frame);
        // What a panic says begins with its place.
        let panicked = error.cause().map(ToString::to_string).and_then(|text| frame(text.strip_prefix("panicked ")?));
        let mut excerpts: Vec<Self> = Vec::new();
        for (file, line) in panicked.into_iter().chain(made).chain(frames) {
            let excerpt = Self::read(&root, &file, line);
            excerpts.extend(excerpt.filter(|excerpt| !excerpts.contains(excerpt)));
        }
        excerpts.truncate(MOST);
        excerpts
    }

    /// None if it is not in the source of the application.
    fn read(root: &Path, file: &str, line: usize) -> Option<Self> {
        let path = find(root, Path::new(file))?;
        let name = path.strip_prefix(root).ok()?.to_str()?.to_owned();
        // Of Skep itself, when the application is one of its examples.
        if name.starts_with("crates/skep") && !name.contains("/tests/") {
            return None;
        }
        let text = fs::read_to_string(&path).ok()?;
        let first = line.saturating_sub(AROUND).max(1);
        let count = line.saturating_add(AROUND + 1) - first;
        let lines: Vec<String> = text.lines().skip(first - 1).take(count).map(str::to_owned).collect();
        (!lines.is_empty()).then_some(Self { file: name, line, first, lines })
    }

    pub(super) fn name(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }

    /// The lines with their numbers; the one that is meant has a mark.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (number, line) in (self.first..).zip(&self.lines) {
            let mark = if number == self.line { '>' } else { ' ' };
            let _ = writeln!(text, "{mark} {number:4} {line}");
        }
        text
    }

    pub(super) fn section(&self) -> Html {
        html! {
            section {
                h2 { code { (self.name()) } }
                pre.source tabindex="0" {
                    @for (number, line) in (self.first..).zip(&self.lines) {
                        @if number == self.line {
                            mark { (format_args!("{number:4} {line}")) } "\n"
                        } @else {
                            (format_args!("{number:4} {line}")) "\n"
                        }
                    }
                }
            }
        }
    }
}

/// `at src/note.rs:12:5`, as backtraces and panics have it.
fn frame(line: &str) -> Option<(String, usize)> {
    let place = line.trim_start().strip_prefix("at ")?;
    let mut parts = place.splitn(3, ':');
    let (file, line) = (parts.next()?, parts.next()?);
    Some((file.trim_start_matches("./").to_owned(), line.parse().ok()?))
}

/// The folder of the application or its workspace: the compiler names files relative to it.
fn root() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let has_lock = |folder: &&Path| folder.join("Cargo.lock").is_file();
    here.ancestors().find(has_lock).map(Path::to_owned)
}

/// The file itself, which is in the folder of the application.
fn find(root: &Path, file: &Path) -> Option<PathBuf> {
    // A backtrace names it relative to the folder in which the server runs.
    let here = std::env::current_dir().ok()?;
    let path = [here.join(file), root.join(file)].into_iter().find(|path| path.is_file())?;
    let path = path.canonicalize().ok()?;
    let is_own = path.extension().is_some_and(|extension| extension == "rs") && path.starts_with(root);
    is_own.then_some(path)
}
