//! Services that no request, or not every link, can tell apart.

use std::fmt;

use super::{Entry, nameless};

/// Two services that cannot be distinguished: why, and what would help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conflict(String);

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// All conflicts, each said once.
pub(super) fn conflicts<E>(entries: &[Entry<E>]) -> Vec<Conflict> {
    // Sorted by path, so that what is compared with each other are the few of one path.
    let mut by_path: Vec<_> = entries.iter().map(|entry| (nameless(&entry.pattern), entry)).collect();
    by_path.sort_by(|(one, _), (other, _)| one.cmp(other));
    let same_path = by_path.chunk_by(|(one, _), (other, _)| one == other);
    same_path
        .flat_map(|entries| {
            entries
                .iter()
                .enumerate()
                .flat_map(|(at, (_, entry))| entries[..at].iter().filter_map(|(_, other)| conflict(other, entry)))
        })
        .collect()
}

fn conflict<E>(first: &Entry<E>, second: &Entry<E>) -> Option<Conflict> {
    if first.method != second.method {
        return None;
    }
    let same =
        first.requirement.required == second.requirement.required && first.requirement.when == second.requirement.when;
    if same {
        return Some(Conflict(if first.name == second.name {
            format!("{} is served twice: name it once", place(first))
        } else {
            cannot_be_distinguished(first, second)
        }));
    }
    takes_links_of(second, first).or_else(|| takes_links_of(first, second))
}

fn cannot_be_distinguished<E>(first: &Entry<E>, second: &Entry<E>) -> String {
    let requirement = second.requirement.to_string();
    let which = if requirement.is_empty() {
        "neither requires a query parameter".to_owned()
    } else {
        format!("both require {requirement}")
    };
    format!(
        "{} and {} cannot be distinguished: {which}; give one of them another path, another method or a required query \
         parameter of its own",
        place(first),
        place(second)
    )
}

/// A link to `entry` that meets what `other` requires leads to `other`, if that is asked first.
fn takes_links_of<E>(other: &Entry<E>, entry: &Entry<E>) -> Option<Conflict> {
    if other.requirement.rank() < entry.requirement.rank() {
        return None;
    }
    let needed = entry.requirement.led_astray_by(&other.requirement)?.join(" and ");
    Some(Conflict(format!(
        "{} and {} cannot always be distinguished: a link to {} with {needed} would lead to {}; name the parameter \
         differently in one of them, or give one another path",
        place(entry),
        place(other),
        entry.name,
        other.name
    )))
}

fn place<E>(entry: &Entry<E>) -> String {
    format!("{} ({} {})", entry.name, entry.method, entry.pattern)
}
