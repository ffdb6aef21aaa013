//! A prefix tree of paths, one level per segment.
//!
//! At each level a literal segment is tried first, then a parameter, then the rest of the path. A step that leads
//! nowhere is taken back, so the most literal path that fits is found whatever else is there. Each node stands at one
//! depth only, so a search visits no node twice.

use std::collections::BTreeMap;

use crate::routing::route::MAX_PATH_PARAMETERS;

/// The values of a path's parameters, still encoded.
pub(crate) type Values<'p> = [&'p str; MAX_PATH_PARAMETERS];

#[derive(Debug, Default)]
pub(super) struct Tree {
    literals: BTreeMap<Box<str>, Tree>,
    parameter: Option<Box<Tree>>,
    rest: Option<usize>,
    end: Option<usize>,
}

impl Tree {
    /// Where the value for this pattern is kept; `{}` stands for a parameter and `{*}` for the rest.
    pub(super) fn slot(&mut self, pattern: &str) -> &mut Option<usize> {
        let (segment, further) = split(pattern);
        let child = match segment {
            "{*}" => return &mut self.rest,
            "{}" => &mut **self.parameter.get_or_insert_default(),
            literal => self.literals.entry(literal.into()).or_default(),
        };
        match further {
            Some(further) => child.slot(further),
            None => &mut child.end,
        }
    }

    /// The value for this path, and what its parameters are.
    pub(super) fn find<'p>(&self, path: &'p str) -> Option<(usize, Values<'p>)> {
        let mut values = [""; MAX_PATH_PARAMETERS];
        let found = self.walk(path.strip_prefix('/')?, &mut values, 0)?;
        Some((found, values))
    }

    fn walk<'p>(&self, path: &'p str, values: &mut Values<'p>, position: usize) -> Option<usize> {
        let (segment, further) = split(path);
        let step = |child: &Self, values: &mut Values<'p>, position| match further {
            Some(further) => child.walk(further, values, position),
            None => child.end,
        };
        if let Some(found) = self.literals.get(segment).and_then(|child| step(child, values, position)) {
            return Some(found);
        }
        // An empty segment is no value: "/a//b" and "/a/" are not addresses of a parameter's page.
        if path.is_empty() {
            return None;
        }
        if let Some(child) = self.parameter.as_deref().filter(|_| !segment.is_empty()) {
            values[position] = segment;
            if let Some(found) = step(child, values, position + 1) {
                return Some(found);
            }
        }
        let found = self.rest?;
        values[position] = path;
        Some(found)
    }
}

fn split(path: &str) -> (&str, Option<&str>) {
    // As bytes, and so without the searcher for characters.
    let slash = path.as_bytes().iter().position(|byte| *byte == b'/');
    slash.map_or((path, None), |at| (&path[..at], Some(&path[at + 1..])))
}
