//! What the project does to itself: test, tidy, peers.
fn main() {}
