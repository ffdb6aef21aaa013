use skep::settings::Settings;

struct Level(u8);

struct Mail {
    host: String,
}

#[derive(Settings)]
#[settings(table = "shop")]
struct Shop {
    /// The level of the log.
    level: Level,
    /// The same, read from its text.
    #[setting(from_str)]
    other: Level,
    #[setting(nested)]
    mail: Mail,
}

fn main() {}
