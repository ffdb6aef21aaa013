//! Values that leave the application and come back unchanged: [`Cx::seal`](crate::Cx::seal), [`Site::seal`](crate::Site::seal).

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::resources::Resources;

/// Milliseconds since 1970 at which the value expires, in front of it.
const EXPIRY_BYTES: usize = 8;

impl Resources {
    pub(crate) fn seal(&self, purpose: &str, value: &(impl Serialize + ?Sized), lasts: Duration) -> Result<String> {
        let expiry = self.setup.clock.now().plus(lasts).millis();
        let mut text = expiry.to_be_bytes().to_vec();
        serde_json::to_writer(&mut text, value)?;
        self.forms.secret.seal(&own(purpose), &text)
    }

    pub(crate) fn unseal<T: DeserializeOwned>(&self, purpose: &str, sealed: &str) -> Result<Option<T>> {
        let Some(text) = self.forms.secret.open(&own(purpose), sealed)? else { return Ok(None) };
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

/// Not one of the purposes that Skep itself seals for.
fn own(purpose: &str) -> String {
    format!("application: {purpose}")
}
