//! drills
pub(crate) const TESTS: &[super::Test] = &[];
