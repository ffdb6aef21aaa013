//! Escalation: a ticket that waits too long for an answer becomes urgent.

use skep::Site;
use skep::prelude::*;

use crate::settings::Helpdesk;

/// Looks through the open tickets once.
pub fn run(site: &Site) -> Result<()> {
    let patience = site.settings::<Helpdesk>().escalate_after.as_secs();
    let update = sql!(
        "update ticket set priority = 'urgent', version = version + 1, escalated = 1
        where status = 'open' and not escalated and changed <= strftime('%Y-%m-%dT%H:%M:%SZ', unixepoch() - ?, 'unixepoch')",
        patience
    );
    let escalated = site.db().write(|db| db.execute(update))?.rows;
    if escalated > 0 {
        tracing::info!(target: "helpdesk", escalated, "tickets that waited too long for an answer are urgent now");
    }
    Ok(())
}
