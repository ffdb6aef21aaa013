//! What keeps an application with the ready pages from starting, and what they are behind a guard.

use skep::guard::Guard as _;
use skep::html::Html;
use skep::layer::Next;
use skep::link::Destination;
use skep::prelude::*;
use skep::sql::{Row, migrations};
use skep_people::pages::{AccountApp, AccountPages, NewAccount, SignInPage, SignUpAccount};
use skep_people::{Account, Signed, reset_link_account};

use super::app::Member;
use super::*;

macro_rules! sql { ($($input:tt)*) => { skep::sql!(in "tests/sql/ready"; $($input)*) } }

/// Of the same table, and another kind.
#[derive(Debug, Row, Account)]
#[account(table = "member", kind = "agent", migrations = "tests/sql/ready")]
struct Agent {
    id: i64,
    #[account(email)]
    mail: String,
    password: Option<String>,
    random: String,
}

impl AccountPages for Agent {
    async fn show(_cx: &mut Cx<'_>, _title: &str, content: &Html) -> Result {
        Ok(Response::html(html! { (content) }))
    }

    fn home() -> impl Destination {
        SignInPage::link()
    }
}

impl SignUpAccount for Agent {
    async fn create(cx: &Cx<'_>, new: NewAccount<'_>) -> Result<Self> {
        let insert = sql!(
            Agent,
            "insert into member (mail, name, password) values (?, '', ?) returning {columns of Agent}",
            new.email,
            new.password_hash
        );
        cx.db().one(insert).await?.or_404()
    }
}

fn problem(app: App) -> String {
    app.open(setup()).map(drop).unwrap_err().to_string()
}

fn setup() -> Setup {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    setup
}

fn empty() -> App {
    App::new().database(migrations!("tests/sql/ready"))
}

#[test]
fn pages_to_sign_up_are_of_the_account_that_signs_in() {
    let alone = problem(empty().sign_up_pages::<Member>());
    assert!(alone.contains("Member> needs App::sign_in_pages::<"), "{alone}");
    for app in [
        empty().sign_in_pages::<Agent>().sign_up_pages::<Member>(),
        empty().sign_up_pages::<Member>().sign_in_pages::<Agent>(),
    ] {
        let other = problem(app);
        assert!(other.contains("Member> needs App::sign_in_pages::<"), "{other}");
    }
    let two = problem(empty().sign_in_pages::<Member>().sign_in_pages::<Agent>());
    assert!(two.contains("Agent>: there are these pages of one type of account already"), "{two}");
    assert_eq!(two.lines().count(), 1, "{two}");
    assert!(empty().sign_up_pages::<Member>().sign_in_pages::<Member>().open(setup()).is_ok());
}

#[test]
fn a_guard_before_the_way_in_is_named() {
    for app in [empty().sign_in_pages::<Member>(), empty().sign_in_pages::<Member>().require::<Signed<Member>>()] {
        let shut = problem(app.guard::<Signed<Member>>("/"));
        assert!(shut.contains("App::guard::<Signed<Member>>(\"/\") stands before"), "{shut}");
        assert!(shut.contains("SignInPage (GET /sign-in)") && !shut.contains("remove one of the two"), "{shut}");
        assert_eq!(shut.lines().count(), 1, "{shut}");
    }
}

#[test]
fn the_page_to_sign_in_does_not_lead_to_itself() {
    let asks = async |cx: &mut Cx<'_>, next: Next<'_>| {
        Signed::<Member>::check(cx).await?;
        next.run(cx).await
    };
    let client = Client::new(empty().sign_in_pages::<Member>().wrap(asks));
    assert_eq!(client.get("/sign-in").status(), 401);
    assert_eq!(client.get("/forgotten-password").status(), 401, "it was led there");
}

#[test]
fn a_link_of_one_kind_of_account_is_none_of_another() {
    let (ada, _) = visitor();
    sign_up(&ada, ADA);
    ada.post("/forgotten-password", &[("email", ADA)]);
    let path = link(&ada);
    let token: &'static str = path.rsplit_once('/').unwrap().1.to_owned().leak();
    let member = ada.with_cx(async move |cx| reset_link_account::<Member>(cx, token).await).unwrap();
    assert_eq!(member.unwrap().mail, ADA);
    let agent = ada.with_cx(async move |cx| reset_link_account::<Agent>(cx, token).await).unwrap();
    assert!(agent.is_none());
}
