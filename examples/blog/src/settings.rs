//! Settings of the blog: `[blog]` in `skep.toml`.

use std::time::Duration;

use skep::settings::Settings;

/// What an operator may change.
#[derive(Debug, Settings)]
#[settings(table = "blog")]
pub struct Blog {
    /// Maximum number of comments from one address within `comment_window`; more are refused (429).
    #[setting(default = 5)]
    pub max_comments: u32,
    /// The period of `max_comments`.
    #[setting(default = "10m")]
    pub comment_window: Duration,
    /// The e-mail address of an author, who gets an account at the start.
    pub author: Option<String>,
    /// The password of that author.
    #[setting(secret)]
    pub author_password: Option<String>,
}
