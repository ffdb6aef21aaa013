use skep::settings::Settings;

#[derive(Settings)]
#[settings(name = "shop")]
struct UnknownKey {
    /// A name.
    name: String,
}

#[derive(Settings)]
#[settings(table = "Shop")]
struct Capital {
    /// A name.
    name: String,
}

#[derive(Settings)]
#[settings(table = "")]
struct NoName {
    /// A name.
    name: String,
}

#[derive(Settings)]
#[settings(table = shop)]
struct Unquoted {
    /// A name.
    name: String,
}

#[derive(Settings)]
#[settings(table = "shop")]
#[settings(table = "store")]
struct Twice {
    /// A name.
    name: String,
}

#[derive(Settings)]
#[setting(table = "shop")]
struct Singular {
    /// A name.
    name: String,
}

fn main() {}
