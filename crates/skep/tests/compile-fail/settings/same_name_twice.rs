use skep::settings::Settings;

#[derive(Settings)]
#[settings(table = "shop")]
struct Shop {
    /// A name.
    name: String,
    /// Another name.
    name: String,
}

fn main() {}
