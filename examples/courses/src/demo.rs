//! Courses and accounts to try it out, for an empty database.

use skep_people::HashPassword;

use crate::layout::house_zone;
use crate::prelude::*;

/// The password of all demo accounts. It is public.
pub const PASSWORD: &str = "straw basket";

/// Settings: `[courses]` in `skep.toml`.
#[derive(Debug, skep::settings::Settings)]
#[settings(table = "courses")]
pub struct Settings {
    /// Fill an empty database with courses and accounts, whose password is public.
    #[setting(default = false)]
    pub demo: bool,
}

/// Runs before the first request.
pub fn fill(site: &Site) -> Result<()> {
    let count = site.db().write(|db| db.one(sql!(i64, "select count(*) from account")))?;
    if site.settings::<Settings>().demo && count == Some(0) {
        let hash = site.hash_password(PASSWORD)?;
        site.db().write(|db| db.transaction(|db| write(db, &hash)))?;
    }
    Ok(())
}

/// Accounts, and courses for three weeks from today on.
fn write(db: &mut sql::Blocking<'_>, hash: &str) -> sql::Result<()> {
    db.execute(sql!(
        "insert into account (email, name, password, role, language, zone) values
         ('ada@example.org', 'Ada Berg', '', 'admin', 'en', 'Europe/Berlin'),
         ('theo@example.org', 'Theo Brandt', '', 'trainer', 'de', 'Europe/Berlin'),
         ('mia@example.org', 'Mia Lund', '', 'member', 'en', 'Europe/London'),
         ('max@example.org', 'Max Vogel', '', 'member', 'de', 'Europe/Berlin')"
    ))?;
    db.execute(sql!("update account set password = ? where password = ''", hash))?;
    let today = Timestamp::now().to_zoned(house_zone()).date();
    for day in (0..20_i64).step_by(5) {
        let at = |later: i64, hour| {
            let local = today.saturating_add((day + later).days()).at(hour, 0, 0, 0);
            local.to_zoned(house_zone()).map(|local| local.timestamp()).unwrap_or_default()
        };
        db.execute(sql!(
            "with theo (id) as (select id from account where email = 'theo@example.org')
             insert into course (trainer_id, title, about, level, minutes, places, price, starts) values
             ((select id from theo), 'Throwing bowls', 'Centre, open, pull up.', 'beginner', 150, 8, '39.00', ?),
             ((select id from theo), 'Dovetails by hand', 'Saw, chisel, patience.', 'advanced', 180, 6, '64.50', ?),
             ((select id from theo), 'Linocut', 'Cut a block, ink it, print twenty cards.', 'all', 120, 10, '28.00', ?),
             ((select id from theo), 'Open bench', 'Work on your own piece, with help.', 'all', 240, 12, '0.00', ?),
             ((select id from theo), 'Glazing', 'How glazes melt, and why yours ran.', 'advanced', 90, 2, '22.00', ?)",
            at(0, 18),
            at(1, 17),
            at(2, 19),
            at(3, 10),
            at(4, 18)
        ))?;
    }
    Ok(())
}

/// For the page to sign in with.
pub(crate) fn accounts(cx: &Cx<'_>) -> Html {
    html! {
        @if cx.settings::<Settings>().demo {
            p.demo { (t!(cx, demo_accounts, password = PASSWORD)) }
        }
    }
}
