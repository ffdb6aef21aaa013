use std::time::Duration;

use skep::settings::Settings;

#[derive(Settings)]
struct NoHelp {
    name: String,
}

#[derive(Settings)]
struct UnknownKey {
    /// A name.
    #[setting(hidden)]
    name: String,
}

#[derive(Settings)]
struct Plural {
    /// A name.
    #[settings(default = "shop")]
    name: String,
}

#[derive(Settings)]
struct NoParentheses {
    /// The password.
    #[setting]
    password: String,
}

#[derive(Settings)]
struct WithValue {
    /// The password.
    #[setting(secret = true)]
    password: String,
}

#[derive(Settings)]
struct Twice {
    /// A number.
    #[setting(default = 1)]
    #[setting(default = 2)]
    number: u32,
}

#[derive(Settings)]
struct SecretWithDefault {
    /// The password.
    #[setting(secret, default = "1234")]
    password: String,
}

#[derive(Settings)]
struct NestedWithMore {
    #[setting(nested, secret)]
    mail: Mail,
}

#[derive(Settings)]
struct Mail {
    /// How long to wait for the server.
    #[setting(default = Duration::from_secs(30))]
    timeout: Duration,
}

fn main() {}
