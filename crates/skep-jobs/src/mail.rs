//! Mail that is not lost: a job of its own.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use skep::Result;
use skep::mail::{Mail, Permanent};

use crate::cx::JobCx;
use crate::job::{Job, Outcome};

/// A mail in the database: [`Later::deliver_later`](crate::Later::deliver_later).
#[derive(Serialize, Deserialize)]
pub(crate) struct DeliverMail(pub(crate) Mail);

impl Job for DeliverMail {
    const KIND: &'static str = "skep.mail";
    const QUEUE: &'static str = "mail";
    const TIME_LIMIT: Duration = Duration::from_mins(2);

    async fn run(self, cx: &mut JobCx<'_>) -> Result<Outcome> {
        match cx.send_mail(self.0).await {
            Ok(()) => Ok(Outcome::Done),
            Err(failure) if failure.is::<Permanent>() => Ok(Outcome::GiveUp(failure.to_string())),
            Err(failure) => Err(skep::Error::internal(failure)),
        }
    }
}
