//! The settings of an application in a component: its environment has them (`wit/skep.wit`).

use std::env;

use skep_settings::Group;
use tracing::Level;

use crate::context::setup::Setup;
use crate::host::component::functions::Host;
use crate::settings;

/// Where the host keeps the application's files, if it lends a folder.
const DATA: &str = "/data";

/// What the environment says, or what in it is wrong.
pub(super) fn read(host: &'static Host) -> Result<Setup, String> {
    let mut setup = Setup { data: DATA.into(), host, ..Setup::default() };
    if let Some(cache) = host.cache {
        setup.clock = cache.clock();
    }
    number("SKEP_BUILD", &mut setup.build)?;
    setup.settings = env::var(settings::VARIABLE).map(|text| settings::decode(&text)).unwrap_or_default();
    setup.read_variables(&|name| env::var(name).ok())?;
    Ok(setup)
}

/// The lowest level of events that are logged.
pub(super) fn level() -> Level {
    env::var("SKEP_LOG").ok().and_then(|level| level.parse().ok()).unwrap_or(Level::INFO)
}

/// True if the host sets `skep-request` itself.
pub(super) fn host_is_skep() -> bool {
    env::var_os("SKEP_HOST").is_some()
}

fn number<T: std::str::FromStr>(name: &str, value: &mut T) -> Result<(), String> {
    if let Ok(text) = env::var(name) {
        *value = text.parse().map_err(|_| format!("{name}={text:?} is no number"))?;
    }
    Ok(())
}
