use skep::settings::Settings;

#[derive(Settings)]
#[settings(table = "shop")]
enum Shop {
    Open,
    Closed,
}

#[derive(Settings)]
struct Unnamed(String);

#[derive(Settings)]
struct Nothing;

#[derive(Settings)]
struct Empty {}

#[derive(Settings)]
struct Generic<T> {
    /// A name.
    name: T,
}

fn main() {}
