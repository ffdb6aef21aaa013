use skep::prelude::*;

/// Nothing answers it.
#[derive(Service)]
#[service(GET "/count", answers = u32)]
struct Count;

fn main() {}
