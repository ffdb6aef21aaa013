//! A row has fields, and no rows of its own.

use skep::form::{Group, Text};

#[derive(Group)]
struct Part {
    name: Text<1, 80>,
}

#[derive(Group)]
struct Line {
    parts: Vec<Part>,
}

fn main() {}
