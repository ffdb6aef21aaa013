//! Where the two checkers do not agree, and why.

/// Who refuses what the other accepts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Refused {
    /// We do, with this in the message.
    ByUs,
    /// The Nu Html Checker does, with this in the message.
    ByThem,
}

pub(super) struct Difference {
    pub(super) refused: Refused,
    /// A part of the message.
    pub(super) message: &'static str,
    pub(super) reason: &'static str,
}

pub(super) const DIFFERENCES: &[Difference] = &[];
