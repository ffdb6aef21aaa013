//! `skep gen sign-in`: accounts for an application that exists, as `skep new --sign-in` begins with them.

use skep_sql_lock::Dialect;

use super::manifest;
use super::name::Name;
use super::package::Package;
use super::plan::Plan;
use super::samples;
use super::scaffold;
use super::service::unused_paths;
use super::source;
use super::template::fill;
use crate::deployment::template;

const MIGRATION: &str = template!("members", "migrations/0002_account.sql");
const POSTGRES_MIGRATION: &str = include_str!("../new/postgres/0002_account.sql");

/// The lines of a Cargo.toml with which a password is hashed in time.
pub(crate) const PASSWORDS: &str = "\
# A hash of a password takes a second without.
[profile.dev.package.argon2]
opt-level = 3
[profile.dev.package.blake2]
opt-level = 3
";

/// Where who has signed in comes to, in place of the notes of the example.
const ACCOUNT_PAGE: &str = "
/// Who is signed in.
#[derive(Service)]
#[service(GET \"/account\")]
pub struct AccountPage {
    #[guard]
    account: Signed<Account>,
}

impl Handle for AccountPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let content = html! {
            p { \"You are signed in as \" (self.account.email) \".\" }
            p { a href=(ChangePasswordPage) { \"Change the password\" } }
            form (SignOut::form(cx)) { button { \"Sign out\" } }
        };
        Ok(page(cx, \"Account\", &content))
    }
}
";

/// What that uses.
const ITS_USES: &str = "\
use skep_people::Signed;
use skep_people::pages::{AccountPages, ChangePasswordPage, NewAccount, SignOut, SignUpAccount};
";

/// Plans the table of accounts, the pages on which people sign up, in and out, and tests.
pub(super) fn sign_in(plan: &mut Plan<'_>, package: &Package) -> Result<(), String> {
    if let Some(guard) = source::required_guard(&package.read("src/lib.rs")?) {
        return Err(format!("src/lib.rs requires `{guard}` of every request: there is a way to sign in already"));
    }
    scaffold::check(package, &Name::parse("account", "table")?)?;
    scaffold::has_layout(package)?;
    unused_paths(package, &addresses())?;
    let migration = if package.dialect == Dialect::Postgres { POSTGRES_MIGRATION } else { MIGRATION };
    plan.create(&package.next_migration("account")?, migration)?;
    plan.create("src/account.rs", &account())?;
    let places = vec![("library", package.library.clone()), ("client", samples::client(package))];
    plan.create("tests/sign_in.rs", &fill(include_str!("templates/sign_in_test.rs.txt"), &places))?;
    plan.edit("src/lib.rs", mount)?;
    plan.edit("Cargo.toml", |text| {
        let text = manifest::add_crate(text, "skep-people")?;
        Ok(if text.contains("package.argon2]") { text } else { format!("{}\n{PASSWORDS}", text.trim_end()) })
    })?;
    scaffold::navigate(plan, package, "account", "AccountPage", "a href=(AccountPage::link()) { \"Account\" }")
}

/// Those of the ready pages and their forms, and of the page of the account.
fn addresses() -> Vec<(&'static str, String)> {
    let pages = [
        "sign-in",
        "sign-up",
        "sign-up/{token}",
        "forgotten-password",
        "forgotten-password/{token}",
        "change-password",
    ];
    let both = pages.iter().flat_map(|page| ["GET", "POST"].map(|method| (method, format!("/{page}"))));
    both.chain([("GET", "/account".to_owned()), ("POST", "/sign-out".to_owned())]).collect()
}

fn mount(text: &str) -> Result<String, String> {
    let text = source::add_module(text, "account")?;
    let text = source::add_services(&text, &["account::AccountPage".to_owned()])?;
    let text = source::add_import(&text, "skep_people::pages::AccountApp")?;
    let text = source::add_call(&text, ".sign_up_pages::<account::Account>()")?;
    source::add_call(&text, ".sign_in_pages::<account::Account>()")
}

/// That of the example, with a page of the account in place of its notes.
fn account() -> String {
    let text = template!("members", "src/account.rs").replace("use crate::note::Notes;\n", "");
    let text =
        text.replace("Notes { at: None }", "AccountPage::link()").replace("layout::account_page", "layout::page");
    let text = text.replace("account_page(cx, title, content).await", "Ok(page(cx, title, content))");
    let uses = "use skep_people::pages::{AccountPages, NewAccount, SignUpAccount};\n";
    text.replace(uses, ITS_USES) + ACCOUNT_PAGE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_example_is_left() {
        let text = account();
        for word in ["Notes", "account_page(", "Home", "members"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
        for word in ["AccountPage::link()", ITS_USES, "Ok(page(cx, title, content))", "use crate::layout::page;"] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }
}
