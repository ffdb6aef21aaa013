use skep::sql::Row;

#[derive(Row)]
struct Unnamed(i64);

#[derive(Row)]
struct Empty {}

#[derive(Row)]
enum Choice {
    One,
}

#[derive(Row)]
struct Borrowed<'a> {
    title: &'a str,
}

#[derive(Row)]
struct UnknownKey {
    #[row(name = "title")]
    title: String,
}

fn main() {}
