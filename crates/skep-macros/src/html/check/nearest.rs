//! "Did you mean ...?"

/// The name that differs least from `name`, if it differs little enough to be meant.
pub(super) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let name = name.to_ascii_lowercase();
    let limit = if name.len() < 4 { 1 } else { 2 };
    let distances = names.map(|known| (distance(&name, &known.to_ascii_lowercase()), known));
    distances.filter(|(distance, _)| *distance <= limit).min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// How many letters must be added, left out, replaced or swapped with the next (optimal string alignment).
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > 2 {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, against) in other.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != against);
            let mut fewest = replaced.min(last[column + 1] + 1).min(line[column] + 1);
            if row > 0 && column > 0 && *letter == other[column - 1] && one[row - 1] == *against {
                fewest = fewest.min(before[column - 1] + 1);
            }
            line.push(fewest);
        }
        before = std::mem::replace(&mut last, line);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearly_a_name_is_taken_for_it_and_nothing_else_is() {
        let names = ["section", "span", "a", "b", "blockquote"];
        for (name, near) in [
            ("secton", Some("section")),
            ("setcion", Some("section")),
            ("spam", Some("span")),
            ("blokquoet", Some("blockquote")),
            ("banana", None),
            ("widget", None),
        ] {
            assert_eq!(nearest(name, names.into_iter()), near, "{name}");
        }
    }
}
