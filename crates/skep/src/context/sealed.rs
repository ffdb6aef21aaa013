//! Values that leave the application and come back unchanged: [`Cx::seal`](crate::Cx::seal),
//! [`Site::seal`](crate::Site::seal).

use std::time::Duration;

use http::HeaderName;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tracing::Level;

use crate::context::cache::Clock;
use crate::context::resources::Resources;
use crate::security::keys::AppKeys;
use skep_http::cookie;
use skep_http::error::{Error, Result};
use skep_http::request::{Fields, header_text};

/// Milliseconds since 1970 at which the value expires, in front of it.
const EXPIRY_BYTES: usize = 8;

impl Resources {
    pub(crate) fn seal(&self, purpose: &str, value: &(impl Serialize + ?Sized), lasts: Duration) -> Result<String> {
        let expiry = self.setup.clock.now().plus(lasts).millis();
        let mut text = expiry.to_be_bytes().to_vec();
        serde_json::to_writer(&mut text, value)?;
        self.forms.secret.seal_own(&own(purpose), &text)
    }

    pub(crate) fn unseal<T: DeserializeOwned>(&self, purpose: &str, sealed: &str) -> Result<Option<T>> {
        let Some(text) = self.forms.secret.open_own(&own(purpose), sealed)? else { return Ok(None) };
        let (expiry, value) = text
            .split_first_chunk::<EXPIRY_BYTES>()
            .ok_or_else(|| Error::internal("a sealed value has no time of expiry"))?;
        if self.setup.clock.now().millis() >= u64::from_be_bytes(*expiry) {
            return Ok(None);
        }
        // Sealed by another version of the application, which had other fields.
        Ok(serde_json::from_slice(value).ok())
    }
}

const LOG_LEVEL: &str = "log level";

/// The header field and the cookie that raise the log level of a request.
static LOG_HEADER: HeaderName = HeaderName::from_static("skep-log");
const LOG_COOKIE: &str = "skep-log";

impl Resources {
    pub(crate) fn seal_level(&self, level: Level, lasts: Duration) -> Result<String> {
        seal_level(&self.forms.secret, &self.setup.clock, level, lasts)
    }

    /// The level that a request may ask for: its header field or its cookie is a token of
    /// [`seal_level`](Self::seal_level).
    pub(crate) fn raised_level(&self, headers: &Fields) -> Option<Level> {
        let token = header_text(headers, &LOG_HEADER).or_else(|| cookie::find(headers, LOG_COOKIE))?;
        // Keys that cannot be read are reported where something needs them.
        let text = self.forms.secret.open_own(LOG_LEVEL, token).ok()??;
        let (expiry, level) = text.split_first_chunk::<EXPIRY_BYTES>()?;
        let lasts = self.setup.clock.now().millis() < u64::from_be_bytes(*expiry);
        std::str::from_utf8(level).ok().filter(|_| lasts)?.parse().ok()
    }
}

pub(crate) fn seal_level(keys: &AppKeys, clock: &Clock, level: Level, lasts: Duration) -> Result<String> {
    let mut text = clock.now().plus(lasts).millis().to_be_bytes().to_vec();
    text.extend_from_slice(level.as_str().as_bytes());
    keys.seal_own(LOG_LEVEL, &text)
}

/// Not one of the purposes that Skep itself seals for.
fn own(purpose: &str) -> String {
    format!("application: {purpose}")
}
