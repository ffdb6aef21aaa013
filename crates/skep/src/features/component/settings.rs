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
    setup.development = env::var("SKEP_DEVELOPMENT").is_ok_and(|value| value == "1");
    setup.secure_cookies = env::var("SKEP_SECURE_COOKIES").is_ok_and(|value| value == "1");
    if let Ok(url) = env::var("SKEP_BASE_URL") {
        setup.base_url = Some(url.parse().map_err(|error| format!("SKEP_BASE_URL: {error}"))?);
    }
    setup.is_on_postgres = match env::var("SKEP_DATABASE").as_deref() {
        Err(_) => false,
        Ok("postgres") => true,
        Ok(other) => return Err(format!("the host's database is {other:?}, which this version of skep does not know")),
    };
    setup.settings = env::var(settings::VARIABLE).map(|text| settings::decode(&text)).unwrap_or_default();
    setup.notices = env::var_os("SKEP_MAIL_NOTICES").is_some();
    let variable = |name: &str| env::var(name).ok();
    setup.session.read_variables(&variable)?;
    setup.fetch.read_variables(&variable)?;
    setup.limits.read_variables(&variable)?;
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
