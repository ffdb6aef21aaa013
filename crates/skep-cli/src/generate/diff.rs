//! What changes between two texts, line by line, as `diff -u` prints it.

use std::fmt::Write as _;

/// Lines around a change that are shown.
const CONTEXT: usize = 3;

/// The difference of a file, with its name above.
pub(super) fn of_file(name: &str, old: Option<&str>, new: &str) -> String {
    let before = if old.is_some() { format!("a/{name}") } else { "/dev/null".to_owned() };
    let lines = compare(&lines(old.unwrap_or_default()), &lines(new));
    let mut text = format!("--- {before}\n+++ b/{name}\n");
    for (begin, end) in hunks(&lines) {
        let hunk = &lines[begin..end];
        let [(olds, news), (olds_before, news_before)] = [hunk, &lines[..begin]].map(count);
        let from = |before: usize, lines: usize| before + usize::from(lines > 0);
        _ = writeln!(text, "@@ -{},{olds} +{},{news} @@", from(olds_before, olds), from(news_before, news));
        for (mark, line) in hunk {
            _ = writeln!(text, "{mark}{line}");
        }
    }
    text
}

/// What happens to a line: ' ', '-' or '+'.
type Line<'t> = (char, &'t str);

/// How many of the lines are in the old text, and in the new one.
fn count(lines: &[Line<'_>]) -> (usize, usize) {
    let without = |mark: char| lines.iter().filter(|line| line.0 != mark).count();
    (without('+'), without('-'))
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

/// The shortest way from one to the other. Sources have some hundred lines, of which most are the same.
fn compare<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    let head = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let rest = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = rest.take_while(|(one, other)| one == other).count();
    let (a, b) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    // How long the common part of what follows is.
    let mut common = vec![vec![0_u32; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] = if a[i] == b[j] { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    let mut lines: Vec<Line<'t>> = old[..head].iter().map(|line| (' ', *line)).collect();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            lines.push((' ', a[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == b.len() || i < a.len() && common[i + 1][j] >= common[i][j + 1] {
            lines.push(('-', a[i]));
            i += 1;
        } else {
            lines.push(('+', b[j]));
            j += 1;
        }
    }
    lines.extend(old[old.len() - tail..].iter().map(|line| (' ', *line)));
    lines
}

/// Changes with the lines around them; those that touch are one.
fn hunks(lines: &[Line<'_>]) -> Vec<(usize, usize)> {
    let mut hunks: Vec<(usize, usize)> = Vec::new();
    for at in (0..lines.len()).filter(|at| lines[*at].0 != ' ') {
        let (begin, end) = (at.saturating_sub(CONTEXT), (at + 1 + CONTEXT).min(lines.len()));
        match hunks.last_mut() {
            Some(last) if begin <= last.1 => last.1 = end,
            _ => hunks.push((begin, end)),
        }
    }
    hunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_what_is_around_it() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n5\n6\n7\n8\nnine\n";
        let expected = "--- a/x\n+++ b/x\n@@ -2,8 +2,9 @@\n 2\n 3\n 4\n+five\n 5\n 6\n 7\n 8\n-9\n+nine\n";
        assert_eq!(of_file("x", Some(old), new), expected);
        assert_eq!(of_file("x", None, "1\n"), "--- /dev/null\n+++ b/x\n@@ -0,0 +1,1 @@\n+1\n");
    }
}
