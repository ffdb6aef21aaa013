//! The sessions of a user, for a page that lists and ends them.

use std::net::IpAddr;
use std::time::SystemTime;

use http::header;
use serde::{Deserialize, Serialize};

use crate::account::{Account, SIGNED_IN};
use crate::event::{EventKind, record};
use crate::messages::AccountMessages;
use crate::remember::{REMEMBERED_BY, SERIES};
use crate::second::FIRST_FACTOR;
use crate::sign_in::owner;
use skep::Cx;
use skep::Result;
use skep::session::{Key, Listed};

/// Where a session was begun.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Device {
    agent: String,
    address: Option<IpAddr>,
}

pub(crate) const DEVICE: Key<Device> = Key::new("skep.device");

/// A longer `User-Agent` is cut.
const LONGEST_AGENT: usize = 200;

impl Device {
    pub(crate) fn of(cx: &Cx<'_>) -> Self {
        let agent = cx.header(&header::USER_AGENT).unwrap_or_default();
        // What `header` gives is ASCII.
        let agent = agent[..agent.len().min(LONGEST_AGENT)].to_owned();
        Self { agent, address: cx.peer().address.map(|address| address.ip()) }
    }
}

/// A session of a user, or a device that [remember-me](crate::remember) would sign in again.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UserSession {
    /// For [`end_session`]. It is no session id, and of no use to anybody else.
    pub id: String,
    /// Browser and system, such as `Firefox on Linux`.
    pub device: String,
    /// Where it was begun.
    pub address: Option<IpAddr>,
    /// When it began.
    pub began: SystemTime,
    /// When it was last used, accurate to ten minutes.
    pub last_used: SystemTime,
    /// It is the one of this request.
    pub is_current: bool,
}

/// The sessions of a user on all devices, the one that was used last first.
///
/// An example is in the guide, `docs/guides/people/accounts.md`.
pub async fn user_sessions<A: Account>(cx: &Cx<'_>, account: &A) -> Result<Vec<UserSession>> {
    let mut all = cx.session().all_of(&owner::<A>(&account.id())).await?;
    all.retain(|session| is_of(session, account));
    all.sort_by_key(|session| (!session.is_current, std::cmp::Reverse(session.seen)));
    let messages = &AccountMessages::of(cx);
    let (mut devices, mut shown) = (Vec::new(), Vec::new());
    for session in &all {
        // A device that was signed in again when its browser was opened has several.
        let Some(device) = session.get(&REMEMBERED_BY) else { continue };
        if !devices.contains(&device) {
            shown.push(UserSession::of(session, messages));
            devices.push(device);
        }
    }
    // Remembered devices that are not signed in, and sessions of others.
    let others = all.iter().filter(|session| session.get(&REMEMBERED_BY).is_none() && !devices.contains(&session.id));
    shown.extend(others.map(|session| UserSession::of(session, messages)));
    shown.sort_by_key(|session| std::cmp::Reverse(session.last_used));
    Ok(shown)
}

/// Ends one session of a user, by its [`id`](UserSession::id), and forgets the device if it was remembered. False if
/// the user has no such session (any more).
pub async fn end_session<A: Account>(cx: &Cx<'_>, account: &A, id: &str) -> Result<bool> {
    let user = owner::<A>(&account.id());
    let all = cx.session().all_of(&user).await?;
    let Some(session) = all.iter().find(|session| session.id == id) else { return Ok(false) };
    // The device first: it would sign in again.
    if let Some(series) = session.get(&REMEMBERED_BY) {
        cx.session().end_one_of(&user, &series).await?;
        for same in all.iter().filter(|other| other.id != id && other.get(&REMEMBERED_BY).as_ref() == Some(&series)) {
            cx.session().end_one_of(&user, &same.id).await?;
        }
    }
    let ended = cx.session().end_one_of(&user, id).await?;
    record(cx, EventKind::SessionEnded, Some(account)).await;
    Ok(ended)
}

/// The browser of a request.
pub(crate) fn browser(cx: &Cx<'_>, messages: &AccountMessages) -> String {
    name_of(&Device::of(cx).agent, messages)
}

/// False for what another account left that had this id, and for what ended with an old password.
fn is_of<A: Account>(session: &Listed, account: &A) -> bool {
    let signed_in = session.get(&SIGNED_IN).or_else(|| session.get(&FIRST_FACTOR));
    signed_in.is_some_and(|signed_in| signed_in.is_of(account))
        || session.get(&SERIES).is_some_and(|series| series.is_of(account))
}

impl UserSession {
    fn of(session: &Listed, messages: &AccountMessages) -> Self {
        let device = session.get(&DEVICE);
        Self {
            id: session.id.clone(),
            device: name_of(device.as_ref().map_or("", |device| &device.agent), messages),
            address: device.and_then(|device| device.address),
            began: session.begun,
            last_used: session.seen,
            is_current: session.is_current,
        }
    }
}

/// What a user would call a browser. Each of them says that it is the others, too, so the order matters.
fn name_of(agent: &str, messages: &AccountMessages) -> String {
    let first = |names: &[(&str, &'static str)]| {
        names.iter().find(|(part, _)| agent.contains(part)).map_or("unknown", |(_, name)| *name)
    };
    let browser = first(&[
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"),
        ("CriOS/", "Chrome"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
        ("curl/", "curl"),
    ]);
    let system = first(&[
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("CrOS", "ChromeOS"),
        ("Linux", "Linux"),
    ]);
    match (browser, system) {
        ("unknown", "unknown") => messages.unknown_device.to_owned(),
        (browser, "unknown") => browser.to_owned(),
        (browser, system) => (messages.browser_on)(browser, system),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_called_what_their_users_call_them() {
        let name_of = |agent| name_of(agent, &AccountMessages::ENGLISH);
        let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
        let edge = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 \
                    Safari/537.36 Edg/140.0";
        let phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                     Version/18.0 Mobile/15E148 Safari/604.1";
        assert_eq!(name_of(firefox), "Firefox on Linux");
        assert_eq!(name_of(edge), "Edge on Windows");
        assert_eq!(name_of(phone), "Safari on iPhone");
        assert_eq!((name_of("curl/8.5.0").as_str(), name_of("").as_str()), ("curl", "unknown device"));
    }
}
