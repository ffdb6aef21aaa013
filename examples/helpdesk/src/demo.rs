//! What an empty database begins with: a demo, or the first administrator.

use skep::Site;
use skep::prelude::*;
use skep::sql::{self, Blocking, Query};
use skep_people::HashPassword;

use crate::settings::Helpdesk;
use crate::texts::Texts;

/// The password of all demo accounts. It is public.
pub const PASSWORD: &str = "straw basket";

/// E-mail address, name, role, language.
const ACCOUNTS: &[(&str, &str, &str, &str)] = &[
    ("ada@example.org", "Ada Admin", "admin", "en"),
    ("bert@example.org", "Bert Betreuer", "agent", "de"),
    ("alice@example.org", "Alice Agent", "agent", "en"),
    ("carla@example.org", "Carla Customer", "customer", "en"),
    ("karl@example.org", "Karl Kunde", "customer", "de"),
];

/// Runs before the first request.
pub fn fill(site: &Site) -> Result<()> {
    let settings = site.settings::<Helpdesk>();
    if site.db().write(|db| db.one(sql!(i64, "select count(*) from user")))? != Some(0) {
        return Ok(());
    }
    match (&settings.admin, &settings.admin_password) {
        (Some(email), Some(password)) => write_admin(site, email, password),
        _ if settings.is_demo() => write_demo(site),
        _ => {
            tracing::warn!(target: "helpdesk", "there is no account: set helpdesk.admin and helpdesk.admin_password");
            Ok(())
        }
    }
}

fn write_admin(site: &Site, email: &str, password: &str) -> Result<()> {
    let hash = site.hash_password(password)?;
    let insert = sql!("insert into user (email, name, password, role) values (?, ?, ?, 'admin')", email, email, hash);
    site.db().write(|db| db.execute(insert))?;
    Ok(())
}

fn write_demo(site: &Site) -> Result<()> {
    let hash = site.hash_password(PASSWORD)?;
    site.db().write(|db| db.transaction(|db| write_rows(db, &hash)))?;
    let accounts: Vec<&str> = ACCOUNTS.iter().map(|(email, ..)| *email).collect();
    tracing::info!(
        target: "helpdesk", accounts = accounts.join(" "), password = PASSWORD,
        "this is a demo: set helpdesk.demo to false before strangers have access"
    );
    Ok(())
}

fn write_rows(db: &mut Blocking<'_>, hash: &str) -> sql::Result<()> {
    for (email, name, role, language) in ACCOUNTS {
        db.execute(sql!(
            "insert into user (email, name, password, role, language) values (?, ?, ?, ?, ?)",
            email,
            name,
            hash,
            role,
            language
        ))?;
    }
    db.execute(tickets())?;
    db.execute(reports())?;
    db.execute(replies())?;
    db.execute(tags())?;
    Ok(())
}

/// Thirty tickets of the last days, the stories of six over and over; two of them wait too long. A statement can count.
fn tickets() -> Query<'static> {
    sql!(
        "with recursive story (at, title, status, priority, tag) as (
            values (0, 'The printer on the second floor prints stripes', 'open', 'normal', 'printer'),
                (1, 'Cannot sign in since the update', 'open', 'high', 'account'),
                (2, 'The invoice of November lacks the tax', 'waiting', 'normal', 'invoice'),
                (3, 'A new keyboard, please', 'solved', 'low', 'hardware'),
                (4, 'E-mails arrive an hour late', 'waiting', 'high', 'mail'),
                (5, 'Die Videokonferenz hat keinen Ton', 'open', 'normal', 'video')
        ), number (n) as (select 0 union all select n + 1 from number where n < 29)
        insert into ticket (id, customer_id, agent_id, title, status, priority, created, changed, answered)
        select n + 1, 4 + n % 2, case when status = 'open' then null else 2 + n % 2 end, title, status, priority,
            strftime('%Y-%m-%dT%H:%M:%SZ', 'now', (n * 7 - 204) || ' hours'),
            strftime('%Y-%m-%dT%H:%M:%SZ', 'now', (n * 9 - 261) || ' minutes'),
            case when status = 'open' then null else strftime('%Y-%m-%dT%H:%M:%SZ', 'now', (n * 7 - 203) || ' hours') end
        from number join story on story.at = n % 6 order by n"
    )
}

fn reports() -> Query<'static> {
    sql!(
        "insert into comment (ticket_id, author_id, text, written)
        select id, customer_id, title || '.' || char(10) || 'It began this morning, and nothing that I tried has helped.', created
        from ticket order by id"
    )
}

fn replies() -> Query<'static> {
    sql!(
        "insert into comment (ticket_id, author_id, text, written)
        select id, agent_id, 'Thank you for the report. Could you send us a picture of what you see?', answered
        from ticket where answered is not null order by id"
    )
}

fn tags() -> Query<'static> {
    sql!(
        "with story (word, tag) as (values ('printer', 'printer'), ('sign in', 'account'), ('invoice', 'invoice'),
            ('keyboard', 'hardware'), ('mails', 'mail'), ('Video', 'video'))
        insert into ticket_tag (ticket_id, tag) select ticket.id, tag from ticket join story on title like '%' || word || '%'"
    )
}

/// For the page to sign in with.
pub fn accounts(t: &Texts) -> Html {
    html! {
        div.demo {
            p { (t.demo_accounts) " " code { (PASSWORD) } }
            ul { @for (email, _, role, _) in ACCOUNTS { li { code { (*email) } " " span.meta { (*role) } } } }
        }
    }
}
