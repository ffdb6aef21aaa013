use skep::settings::Settings;

#[derive(Settings)]
struct Computed {
    /// A number.
    #[setting(default = 2 + 2)]
    number: u32,
}

#[derive(Settings)]
struct Negated {
    /// A switch.
    #[setting(default = !true)]
    on: bool,
}

#[derive(Settings)]
struct Bytes {
    /// A name.
    #[setting(default = b"shop")]
    name: String,
}

#[derive(Settings)]
struct Empty {
    /// A name.
    #[setting(default = "")]
    name: String,
}

#[derive(Settings)]
struct NoValue {
    /// A name.
    #[setting(default)]
    name: String,
}

fn main() {}
