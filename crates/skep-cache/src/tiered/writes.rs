//! The policies for writes.

/// How writes of a namespace reach the near tier.
///
/// See [`Tiered::writes`](super::Tiered::writes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writes {
    /// Stored in both. For what is read soon after it is written.
    #[default]
    Through,
    /// Stored in the far tier; the near one forgets its copy, and gets it when it is read. For what is written more than read.
    Around,
    /// Stored in the near tier now, in the far one within a second or with the 1024th, whichever comes first, when somebody writes or
    /// [`Tiered::flush`](super::Tiered::flush) is called. A crash loses what was not yet there. For what may be lost, like counts of views.
    Back,
}
