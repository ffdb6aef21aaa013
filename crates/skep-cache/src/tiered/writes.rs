//! The write policies.

/// How writes of a namespace reach the tiers.
///
/// See [`Tiered::writes`](super::Tiered::writes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WritePolicy {
    /// Write-through: stores in both tiers. For entries read soon after they are written.
    #[default]
    Through,
    /// Write-around: stores in the far tier and drops the copy. For entries written more often than read.
    Around,
    /// Write-back: buffers the entry in this process. The first write after a second or after 1024 entries stores them in the far tier,
    /// and so does [`Tiered::flush`](super::Tiered::flush). A crash loses buffered entries. For data that may be lost, like view counts.
    Back,
}
