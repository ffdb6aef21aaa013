//! Links between the Markdown files of the repository.

use super::Complaint;
use super::source::{Source, Tree};

/// A link to a file or a heading of the repository leads somewhere. What a site serves (the articles of an example, the
/// files of a test) has the site's addresses in it, and is left alone.
pub(super) fn lead_somewhere(source: &Source, tree: &Tree) -> Vec<Complaint> {
    let is_served = source.path.starts_with("examples/") && source.file_name() != "README.md";
    if !source.is_markdown() || is_served || source.is_test() {
        return Vec::new();
    }
    let complain = |(line, target): (usize, String)| {
        let wrong = wrong(source, &target, tree)?;
        Some(source.complaint(line, format!("the link to {target} leads nowhere: {wrong}; mend or delete it")))
    };
    targets(source).into_iter().filter_map(complain).collect()
}

fn wrong(source: &Source, target: &str, tree: &Tree) -> Option<String> {
    let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let path = if file.is_empty() { Some(source.path.clone()) } else { resolve(&source.path, file) };
    let Some(path) = path else { return Some("it leaves the repository".to_owned()) };
    if !tree.has(&path) {
        return Some("there is no such file".to_owned());
    }
    let page = tree.source(&path).filter(|page| page.is_markdown())?;
    let anchor = anchor.filter(|anchor| !headings(page).iter().any(|heading| heading == anchor))?;
    Some(format!("there is no heading {anchor:?}"))
}

/// The path that `file` means in the file `from`; none if it leaves the repository.
fn resolve(from: &str, file: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in file.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Targets of links and pictures that lead into the repository, with their lines.
fn targets(source: &Source) -> Vec<(usize, String)> {
    let mut targets = Vec::new();
    for (number, line) in prose(source) {
        let mut add = |target: &str| {
            let target = target.trim().trim_start_matches('<').split([' ', '>']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains(':') && !target.starts_with('/') {
                targets.push((number, target.replace("%20", " ")));
            }
        };
        for (start, end) in [("](", ')'), ("src=\"", '"'), ("href=\"", '"')] {
            line.split(start).skip(1).filter_map(|rest| rest.split_once(end)).for_each(|(target, _)| add(target));
        }
        if let Some((_, target)) =
            line.strip_prefix('[').filter(|rest| !rest.starts_with('^')).and_then(|rest| rest.split_once("]: "))
        {
            add(target);
        }
    }
    targets
}

/// The lines outside of code, with the code inside of them taken out.
fn prose(page: &Source) -> impl Iterator<Item = (usize, String)> {
    outside_code(page).map(|(number, line)| (number, line.split('`').step_by(2).collect::<Vec<_>>().join("`")))
}

fn outside_code(page: &Source) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    page.lines().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    })
}

/// The anchors of a page's headings: small letters, hyphens for spaces, no other marks, and a number when one comes
/// again.
fn headings(page: &Source) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for (_, line) in outside_code(page) {
        let Some(title) = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')) else {
            continue;
        };
        let anchor = anchor(title);
        let again = anchors.iter().filter(|other| **other == anchor).count();
        anchors.push(if again == 0 { anchor } else { format!("{anchor}-{again}") });
    }
    anchors
}

fn anchor(title: &str) -> String {
    let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let guide = "# Guide\n\n## First steps, `skep new`\n\n## First steps, `skep new`\n\n```sh\n# no heading\n```\n";
        let sources = vec![Source::new(path, text), Source::new("docs/guide.md", guide)];
        let paths = [path, "docs/guide.md", "docs/blog.png", "LICENSE-MIT"].map(str::to_owned);
        let tree = Tree { sources, paths: BTreeSet::from(paths) };
        lead_somewhere(&tree.sources[0], &tree).iter().map(|complaint| complaint.line).collect()
    }

    #[test]
    fn a_link_leads_to_a_file_or_a_folder() {
        assert_eq!(lines("README.md", "[a](docs/guide.md) ![b](docs/blog.png \"B\") [c](docs/)"), [0; 0]);
        assert_eq!(
            lines("docs/a.md", "[a](guide.md) [b](../LICENSE-MIT)\n\n[c]: ../docs/blog.png\n[^1]: A note"),
            [0; 0]
        );
        assert_eq!(
            lines("README.md", "[a](docs/guide.md)\n[b](guide.md)\n\n[c]: gone.md\n<img src=\"gone.png\">"),
            [2, 4, 5]
        );
        assert_eq!(lines("docs/a.md", "[a](../../elsewhere)"), [1]);
    }

    #[test]
    fn an_anchor_is_a_heading() {
        assert_eq!(lines("README.md", "# The blog\n[a](#the-blog) [b](docs/guide.md#first-steps-skep-new-1)"), [0; 0]);
        assert_eq!(lines("README.md", "# The blog\n[a](#blog)\n[b](docs/guide.md#no-heading)"), [2, 3]);
    }

    #[test]
    fn addresses_and_code_are_left_alone() {
        assert_eq!(lines("README.md", "[a](https://example.org/x) [b](mailto:a@example.org) `[c](gone)`"), [0; 0]);
        assert_eq!(lines("README.md", "```md\n[a](gone.md)\n```\n"), [0; 0]);
        assert_eq!(lines("examples/blog/articles/a.md", "[a](another-article)"), [0; 0]);
        assert_eq!(lines("examples/blog/README.md", "[a](gone.md)"), [1]);
    }
}
