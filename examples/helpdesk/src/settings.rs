//! Settings of the help-desk: `[helpdesk]` in `skep.toml`.

use std::time::Duration;

use skep::settings::Settings;

/// What an operator may change.
#[derive(Debug, Settings)]
#[settings(table = "helpdesk")]
pub struct Helpdesk {
    /// Fill an empty database with tickets and accounts to try it out. Their password is public: set this to false
    /// before strangers have access.
    #[setting(default = true)]
    pub demo: bool,
    /// The e-mail address of the first administrator, for an empty database. There is no demo then.
    pub admin: Option<String>,
    /// The password of the first administrator.
    #[setting(secret)]
    pub admin_password: Option<String>,
    /// A ticket that waits for an answer for this long becomes urgent.
    #[setting(default = "4h")]
    pub escalate_after: Duration,
}

impl Helpdesk {
    /// An operator who names an administrator wants no accounts with a public password.
    #[must_use]
    pub fn is_demo(&self) -> bool {
        self.demo && self.admin.is_none()
    }
}
