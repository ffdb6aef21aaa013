//! Courses and accounts to try it out, for an empty database.

use jiff::civil::Date;
use jiff::{Timestamp, ToSpan};
use rust_decimal::Decimal;
use skep::Site;
use skep::prelude::*;
use skep::sql::{self, Blocking};
use skep_language::prelude::*;
use skep_people::HashPassword;

use crate::ZONE;
use crate::layout::house_zone;

/// The password of all demo accounts. It is public.
pub const PASSWORD: &str = "straw basket";

/// Address, name, role, language, zone.
const ACCOUNTS: [[&str; 5]; 4] = [
    ["ada@example.org", "Ada Berg", "admin", "en", ZONE],
    ["theo@example.org", "Theo Brandt", "trainer", "de", ZONE],
    ["mia@example.org", "Mia Lund", "member", "en", "Europe/London"],
    ["max@example.org", "Max Vogel", "member", "de", ZONE],
];

/// Title, about, level, hour, minutes, places, price.
const COURSES: [(&str, &str, &str, i8, i64, i64, &str); 5] = [
    ("Throwing bowls", "Centre the clay, open it, pull up the walls.", "beginner", 18, 150, 8, "39.00"),
    ("Dovetails by hand", "Saw, chisel and patience: a small box of ash.", "advanced", 17, 180, 6, "64.50"),
    ("Linocut", "Cut a block, ink it, print twenty cards.", "all", 19, 120, 10, "28.00"),
    ("Open bench", "Work on your own piece. Somebody is there to help.", "all", 10, 240, 12, "0.00"),
    ("Glazing", "How glazes melt, and why yours ran.", "advanced", 18, 90, 2, "22.00"),
];

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
        let noon = Timestamp::now().to_zoned(house_zone()).datetime();
        site.db().write(|db| db.transaction(|db| write(db, &hash, noon.date())))?;
    }
    Ok(())
}

/// Accounts, and courses for three weeks from a day on.
fn write(db: &mut Blocking<'_>, hash: &str, first: Date) -> sql::Result<()> {
    let mut trainer = 0;
    for [email, name, role, language, zone] in ACCOUNTS {
        let insert = sql!(
            i64,
            "insert into account (email, name, password, role, language, zone) values (?, ?, ?, ?, ?, ?) returning id",
            email,
            name,
            hash,
            role,
            language,
            zone
        );
        let id = db.one(insert)?.unwrap_or_default();
        trainer = if role == "trainer" { id } else { trainer };
    }
    for (day, (title, about, level, hour, minutes, places, price)) in (0..21_i64).zip(COURSES.into_iter().cycle()) {
        let local = first.saturating_add(day.days()).at(hour, 0, 0, 0);
        let Ok(starts) = local.to_zoned(house_zone()) else { continue };
        db.execute(sql!(
            "insert into course (title, about, level, trainer_id, starts, minutes, places, price)
             values (?, ?, ?, ?, ?, ?, ?, ?)",
            title,
            about,
            level,
            trainer,
            starts.timestamp(),
            minutes,
            places,
            price.parse::<Decimal>().unwrap_or_default()
        ))?;
    }
    Ok(())
}

/// For the page to sign in with.
pub(crate) fn accounts(cx: &Cx<'_>) -> Html {
    html! {
        @if cx.settings::<Settings>().demo {
            div.demo {
                p { (t!(cx, demo_accounts)) " " code { (PASSWORD) } }
                ul { @for [email, _, role, ..] in ACCOUNTS { li { code { (email) } " " span.meta { (role) } } } }
            }
        }
    }
}
