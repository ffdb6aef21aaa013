//! Browsers that have signed in as somebody before: a sealed cookie (a device cookie, as OWASP calls it).
//!
//! It signs nobody in. A browser that brings it is no stranger to the names in it: it has counters of its own, so that
//! nobody who guesses elsewhere keeps it out, and its next sign-in is not from a new device.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::random;
use crate::stamp::Stamp;
use skep::Cookie;
use skep::Cx;
use skep::Result;

/// How long a browser is known after it has signed in.
const LASTS: Duration = Duration::from_hours(365 * 24);

/// Most digests in a cookie: two for each account, and names that it was found by.
const MOST: usize = 12;

const PURPOSE: &str = "skep.device";

#[derive(Serialize, Deserialize)]
struct Known {
    /// Tells browsers apart.
    device: String,
    /// When it signed in, in milliseconds since 1970.
    seen: u64,
    /// Digests of names and accounts, those of the last sign-in first.
    marks: Vec<String>,
}

/// What stands for a name in the cookie.
pub(crate) fn mark_of_name(kind: &str, name: &str) -> String {
    digest(&format!("name:{kind}:{}", name.trim()))
}

/// What stands for an account while it has this stamp: a number that comes again is another account.
pub(crate) fn mark_of_account(kind: &str, id: &str, stamp: &Stamp) -> Result<String> {
    stamp.and(&format!("{kind}:{id}")).to_text()
}

/// The device, if it has signed in as this one.
pub(crate) fn device(cx: &Cx<'_>, mark: &str) -> Option<String> {
    brought(cx).filter(|known| known.marks.iter().any(|known| known == mark)).map(|known| known.device)
}

/// Notes that this browser has signed in with these marks. Without keys that seal it, it stays a stranger.
pub(crate) fn note(cx: &Cx<'_>, marks: Vec<String>) {
    let known = brought(cx);
    let device = known.as_ref().map_or_else(new_device, |known| Some(known.device.clone()));
    let Some(device) = device else { return };
    let before = known.map(|known| known.marks).unwrap_or_default();
    let before = before.into_iter().filter(|mark| !marks.contains(mark)).collect::<Vec<_>>();
    let marks = marks.iter().cloned().chain(before).take(MOST).collect();
    let Ok(text) = serde_json::to_vec(&Known { device, seen: now(cx), marks }) else { return };
    match cx.keys().seal(PURPOSE, &text) {
        Ok(sealed) => cx.send_cookie(&Cookie::new(cookie_name(cx), sealed).max_age(LASTS)),
        Err(error) => tracing::debug!(target: "skep::security", "this browser cannot be known again: {error}"),
    }
}

fn brought(cx: &Cx<'_>) -> Option<Known> {
    let text = cx.keys().open(PURPOSE, cx.cookie(cookie_name(cx))?).ok()??;
    let known: Known = serde_json::from_slice(&text).ok()?;
    (u128::from(now(cx).saturating_sub(known.seen)) <= LASTS.as_millis()).then_some(known)
}

/// Over TLS no other host, and nobody on the way, can set it.
fn cookie_name(cx: &Cx<'_>) -> &'static str {
    if cx.is_secure() { "__Host-skep-device" } else { "skep-device" }
}

fn new_device() -> Option<String> {
    random::bytes::<12>().ok().map(|bytes| URL_SAFE_NO_PAD.encode(bytes))
}

/// Names are of any length, and need not be in a cache in plain text.
pub(crate) fn digest(name: &str) -> String {
    let name = name.trim().to_lowercase();
    URL_SAFE_NO_PAD.encode(&Sha256::digest(name)[..16])
}

fn now(cx: &Cx<'_>) -> u64 {
    cx.clock().now().millis()
}
