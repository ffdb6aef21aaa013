//! Links that open a place in the editor.

use std::path::{Path, PathBuf};

use skep_units::percent_encoded;

/// The pattern of the links.
#[derive(Clone, Debug)]
pub(crate) struct Editor(String);

/// A line of a source file, as the compiler names it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SourceLocation<'t> {
    file: &'t str,
    line: u32,
    column: u32,
}

impl<'t> SourceLocation<'t> {
    /// `src/lib.rs:4:5`.
    pub(crate) fn of(text: &'t str) -> Option<Self> {
        let (rest, column) = text.rsplit_once(':')?;
        let (file, line) = rest.rsplit_once(':')?;
        Some(Self { file, line: line.parse().ok()?, column: column.parse().ok()? })
    }
}

impl Editor {
    /// That of `SKEP_EDITOR`, or Visual Studio Code.
    pub(crate) fn of_environment() -> Result<Self, String> {
        let pattern = std::env::var("SKEP_EDITOR").ok().filter(|pattern| !pattern.is_empty());
        Self::new(pattern.as_deref().unwrap_or("vscode://file{file}:{line}:{column}"))
    }

    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        if pattern.contains("{file}") && pattern.contains(':') {
            return Ok(Self(pattern.to_owned()));
        }
        Err(format!(
            "the link to the editor is \"{pattern}\": expected a URL with {{file}} in it, such as \
             vscode://file{{file}}:{{line}}:{{column}} or zed://file{{file}}:{{line}}:{{column}}"
        ))
    }

    /// The URL for a place; files are named relative to `folder`.
    pub(crate) fn url(&self, folder: &Path, place: &SourceLocation<'_>) -> String {
        let path: PathBuf = folder.join(place.file);
        let file = percent_encoded(&path.to_string_lossy());
        let numbers = [("{line}", place.line), ("{column}", place.column)];
        let url = numbers.iter().fold(self.0.clone(), |url, (name, number)| url.replace(name, &number.to_string()));
        url.replace("{file}", &file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_link_into_the_editor() {
        let place = SourceLocation::of("src/a b.rs:4:15").unwrap();
        let code = Editor::new("vscode://file{file}:{line}:{column}").unwrap();
        assert_eq!(code.url(Path::new("/srv/shop"), &place), "vscode://file/srv/shop/src/a%20b.rs:4:15");
        let other = Editor::new("idea://open?file={file}&line={line}").unwrap();
        let place = SourceLocation::of("/x\"y.rs:1:2").unwrap();
        assert_eq!(other.url(Path::new("/srv"), &place), "idea://open?file=/x%22y.rs&line=1");
        assert!(Editor::new("vim").unwrap_err().contains("{file}"));
        assert_eq!(SourceLocation::of("src/lib.rs"), None);
        assert_eq!(SourceLocation::of("a:b:c"), None);
    }
}
