//! What a form sends, whichever way the control flow of its template goes.
//!
//! A control in one branch only is sent sometimes, one in a loop perhaps never: neither gives a form a required field.
//! It never looks into a splice: what is in one, `@fields` says.

use super::super::super::ast::Node;

/// The controls on one path through the control flow.
#[derive(Clone, Default)]
pub(super) struct Path {
    /// The fields with a control here or in a branch before it.
    pub(super) seen: Vec<String>,
    /// What is sent on every path that leads here.
    pub(super) sent: Vec<Sent>,
    /// The fields that `@fields` declares here or in a branch before it.
    pub(super) declared: Vec<String>,
    /// The controls are those of a group.
    is_of_group: bool,
}

/// What a form sends: a field, or a name that the author wrote.
#[derive(Clone)]
pub(super) struct Sent {
    pub(super) name: String,
    pub(super) by: By,
}

/// Who writes it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// The only control of a field.
    Control,
    /// The control of one choice, value or row, or a button: a loop writes several.
    Part,
    /// The author, with a `name` of their own.
    Hand,
}

impl Path {
    pub(super) fn of_group() -> Self {
        Self { is_of_group: true, ..Self::default() }
    }

    /// Is the field one of a group that a function writes?
    pub(super) fn is_in_declared(&self, field: &str) -> bool {
        let is_within = |group: &String| field.strip_prefix(group.as_str()).is_some_and(|rest| rest.starts_with('.'));
        self.declared.iter().any(is_within)
    }

    pub(super) fn send(&mut self, name: &str, by: By) {
        // Its `title` is sent as `course.title`: what else the author names is no field of it.
        if self.is_of_group && by == By::Hand {
            return;
        }
        self.sent.push(Sent { name: name.to_owned(), by });
    }

    /// The names that fields, or the author, send.
    pub(super) fn names(&self, by_hand: bool) -> Vec<&str> {
        let wanted = self.sent.iter().filter(|sent| (sent.by == By::Hand) == by_hand);
        wanted.map(|sent| sent.name.as_str()).collect()
    }

    /// The fields that have a control, but not on every path.
    pub(super) fn sometimes(&self) -> Vec<&str> {
        let is_always = |name: &String| self.sent.iter().any(|sent| sent.name == *name);
        self.seen.iter().filter(|name| !is_always(name)).map(String::as_str).collect()
    }

    /// Goes on behind `node`, whose arms end with these paths.
    pub(super) fn join(&mut self, node: &Node, ends: Vec<Self>) {
        let before = self.sent.len();
        let mut sent: Option<Vec<Sent>> = may_skip_its_arms(node).then(|| self.sent.clone());
        for end in ends {
            self.seen.extend(end.seen);
            self.declared.extend(end.declared);
            match &mut sent {
                _ if matches!(node, Node::Loop(_)) => {
                    // An author who writes a loop over choices has not forgotten the field.
                    let several = end.sent.into_iter().skip(before).filter(|sent| sent.by != By::Control);
                    self.sent.extend(several);
                    return;
                }
                None => sent = Some(end.sent),
                Some(sent) => sent.retain(|one| end.sent.iter().any(|other| other.name == one.name)),
            }
        }
        self.sent = sent.unwrap_or_default();
    }
}

/// Without an `@else`, perhaps no arm is rendered.
fn may_skip_its_arms(node: &Node) -> bool {
    match node {
        Node::If(arms) => arms.last().is_none_or(|arm| arm.head.to_string() != "else"),
        Node::Match(_, arms) => arms.is_empty(),
        _ => true,
    }
}
