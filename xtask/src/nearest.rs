//! What was probably meant.

/// Says that `given` is no `kind`, and which of `known` was probably meant.
pub(crate) fn unknown<'a>(kind: &str, given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<_> = known.into_iter().collect();
    match nearest(given, &known) {
        Some(name) => format!("there is no {kind} {given:?}; did you mean {name:?}?"),
        None => format!("there is no {kind} {given:?}; there are {}", known.join(", ")),
    }
}

fn nearest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    let near = known.iter().map(|name| (distance(given, name), *name)).min()?;
    (near.0 <= 2.max(near.1.len() / 3)).then_some(near.1)
}

/// How many letters to insert, delete or replace to get from one to the other (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_single_letters() {
        assert_eq!(distance("clippy", "clippy"), 0);
        assert_eq!(distance("clipy", "clippy"), 1);
        assert_eq!(distance("", "tidy"), 4);
        assert_eq!(distance("tidy", "test"), 3);
    }

    #[test]
    fn a_slip_names_what_was_meant() {
        let said = unknown("step", "clipy", ["format", "clippy"]);
        assert_eq!(said, "there is no step \"clipy\"; did you mean \"clippy\"?");
    }

    #[test]
    fn what_is_near_to_nothing_gets_the_whole_list() {
        let said = unknown("step", "everything", ["format", "clippy"]);
        assert_eq!(said, "there is no step \"everything\"; there are format, clippy");
    }
}
