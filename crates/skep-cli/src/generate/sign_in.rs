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

/// A file of `examples/members`.
macro_rules! member {
    ($file:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/members/", $file))
    };
}

const MIGRATION: &str = member!("migrations/0002_account.sql");
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
const ACCOUNT_PAGE: &str = "\
/// Who is signed in.
#[derive(Service)]
#[service(GET \"/account\")]
pub struct AccountPage {
    #[guard]
    account: Signed<Account>,
}

";

const ITS_HANDLER: &str = "\
impl Handle for AccountPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let content = html! {
            p { \"You are signed in as \" (self.account.email) \".\" }
            form (SignOut::form(cx)) { button { \"Sign out\" } }
        };
        Ok(page(cx, \"Account\", &content))
    }
}

";

/// Plans the table of accounts, the pages on which people sign up, in and out, and tests.
pub(super) fn sign_in(plan: &mut Plan<'_>, package: &Package) -> Result<(), String> {
    if let Some(guard) = source::required_guard(&package.read("src/lib.rs")?) {
        return Err(format!("src/lib.rs requires `{guard}` of every request: there is a way to sign in already"));
    }
    scaffold::check(package, &Name::parse("account", "table")?)?;
    scaffold::has_layout(package)?;
    let paths = ["/account", "/sign-in", "/sign-up", "/sign-up/sent", "/sign-up/{token}"];
    unused_paths(package, &paths.map(|path| ("GET", path.to_owned())))?;
    let migration = if package.dialect == Dialect::Postgres { POSTGRES_MIGRATION } else { MIGRATION };
    plan.create(&package.next_migration("account")?, migration)?;
    plan.create("src/account.rs", member!("src/account.rs"))?;
    plan.create("src/sign_in.rs", &sign_in_pages())?;
    plan.create("src/sign_up.rs", &sign_up_pages())?;
    let places = vec![("library", package.library.clone()), ("client", samples::client(package))];
    plan.create("tests/sign_in.rs", &fill(include_str!("templates/sign_in_test.rs.txt"), &places))?;
    plan.edit("src/lib.rs", mount)?;
    plan.edit("Cargo.toml", |text| {
        let text = manifest::add_crate(text, "skep-people")?;
        Ok(if text.contains("package.argon2]") { text } else { format!("{}\n{PASSWORDS}", text.trim_end()) })
    })?;
    scaffold::navigate(plan, package, "sign_in", "AccountPage", "a href=(AccountPage::link()) { \"Account\" }")
}

fn mount(text: &str) -> Result<String, String> {
    let services = ["AccountPage", "SignInPage", "SignIn", "SignOut"].map(|one| format!("sign_in::{one}"));
    let more =
        ["SignUpPage", "SignUp", "LinkSent", "PasswordPage", "ChoosePassword"].map(|one| format!("sign_up::{one}"));
    let text = ["account", "sign_in", "sign_up"]
        .iter()
        .try_fold(text.to_owned(), |text, module| source::add_module(&text, module))?;
    source::add_services(&text, &[&services[..], &more[..]].concat())
}

/// Those of the example, with a page of the account in place of the first page.
fn sign_in_pages() -> String {
    let text = member!("src/sign_in.rs");
    let (before, home) = text.split_once("/// The first page leads on").unwrap_or((text, ""));
    let (_, rest) = home.split_once("/// The form.").unwrap_or_default();
    let (structs, handlers) = rest.split_once("impl Handle for Home").unwrap_or_default();
    let (_, handlers) = handlers.split_once("impl Handle for SignInPage").unwrap_or_default();
    adapted(&format!("{before}{ACCOUNT_PAGE}/// The form.{structs}{ITS_HANDLER}impl Handle for SignInPage{handlers}"))
}

fn sign_up_pages() -> String {
    let text = member!("src/sign_up.rs");
    adapted(&text.replace("use crate::sign_in::SignInPage;", "use crate::sign_in::{AccountPage, SignInPage};"))
}

/// With pages of the application that is there.
fn adapted(text: &str) -> String {
    let text = text.replace("use crate::note::Notes;\n", "").replace("Notes { at: None }", "AccountPage::link()");
    text.replace("open_page", "page")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_example_is_left() {
        for text in [sign_in_pages(), sign_up_pages()] {
            for word in ["Notes", "open_page", "Home", "members"] {
                assert!(!text.contains(word), "{word}: {text}");
            }
            assert!(text.contains("AccountPage::link()"));
        }
        assert!(sign_in_pages().contains("impl Handle for SignOut"));
    }
}
