use skep::prelude::*;

#[derive(Param)]
struct Point {
    x: u8,
}

#[derive(Param)]
enum Shape {
    Circle,
    Box(u8),
}

#[derive(Param)]
enum Nothing {}

#[derive(Param)]
enum Twice {
    NewestFirst,
    #[param("newest-first")]
    Newest,
}

#[derive(Param)]
enum Unknown {
    #[param(title = "Newest first")]
    Newest,
}

#[derive(Param)]
enum Empty {
    #[param("")]
    None,
}

fn main() {}
