use std::time::SystemTime;

#[derive(skep::sql::Row)]
struct Post {
    title: String,
    written: SystemTime,
}

fn main() {}
