//! The address of a database: `postgres://USER:PASSWORD@HOST/NAME?PARAMETER=VALUE`.

use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// How long sent bytes may stay unacknowledged, unless the address says otherwise: a machine that is gone does not say
/// so.
const GONE: Duration = Duration::from_secs(30);

/// How long a host may take to accept a connection, unless the address says otherwise: there may be another one.
const CONNECT: Duration = Duration::from_secs(3);

/// After how long without a byte a machine is asked whether it is there, unless the address says otherwise.
const SILENT: Duration = Duration::from_secs(15);

pub(super) struct Address {
    pub(super) config: Config,
    /// The same without user, password and parameters.
    pub(super) shown: PathBuf,
    /// The file with the authorities of the server's certificate.
    pub(super) authorities: Option<PathBuf>,
    /// Statements may be cancelled.
    pub(super) cancels: bool,
}

/// The error has no part of the address in it that may be secret.
pub(super) fn parse(text: &str) -> Result<Address, String> {
    if !["postgres://", "postgresql://"].iter().any(|start| text.starts_with(start)) {
        return Err("expected an address such as `postgres://USER:PASSWORD@HOST/NAME`".to_owned());
    }
    let (base, parameters) = text.split_once('?').unwrap_or((text, ""));
    // Else what stands behind the first one would be part of a host, and of messages.
    if base.matches('@').count() > 1 || parameters.contains('@') {
        return Err(
            "there is an `@` too many: write `%40` for one in a user, a password, a name or a parameter".to_owned()
        );
    }
    let (mut kept, mut authorities, mut cancels) = (Vec::new(), None, true);
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=') {
            Some(("sslrootcert", file)) => {
                authorities = Some(PathBuf::from(percent_decode_str(file).decode_utf8_lossy().into_owned()));
            }
            Some(("pgbouncer", "true")) => cancels = false,
            Some(("pgbouncer", "false")) => {}
            Some(("pgbouncer", other)) => return Err(format!("pgbouncer={other}: expected `true` or `false`")),
            // With TLS, the certificate is always verified.
            Some(("sslmode", "verify-ca" | "verify-full")) => kept.push("sslmode=require"),
            _ => kept.push(parameter),
        }
    }
    let mut config: Config =
        format!("{base}?{}", kept.join("&")).parse().map_err(|error: tokio_postgres::Error| said(&error))?;
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err("it names no host: `postgres://HOST/NAME`, or `postgres:///NAME?host=/run/postgresql`".to_owned());
    }
    let (hosts, ports) = (config.get_hosts().len().max(config.get_hostaddrs().len()), config.get_ports());
    if ports.len() > 1 && ports.len() != hosts {
        return Err(format!("it names {} ports for {hosts} hosts: expected one, or one for each", ports.len()));
    }
    if ports.contains(&0) {
        return Err("invalid port 0: expected 1 to 65535".to_owned());
    }
    if config.get_application_name().is_none() {
        config.application_name("skep");
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(GONE);
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT);
    }
    if !kept.iter().any(|parameter| parameter.starts_with("keepalives_idle=")) {
        config.keepalives_idle(SILENT);
    }
    let shown = without_secrets(&config);
    Ok(Address { config, shown, authorities, cancels })
}

fn said(error: &tokio_postgres::Error) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default())
}

fn without_secrets(config: &Config) -> PathBuf {
    let host = |host: &Host| match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(path) => path.display().to_string(),
    };
    let hosts: Vec<String> = config.get_hosts().iter().map(host).collect();
    let name = config.get_dbname().or(config.get_user()).unwrap_or_default();
    PathBuf::from(format!("postgres://{}/{name}", hosts.join(",")))
}

#[cfg(test)]
#[path = "../../tests/unit/postgres/address.rs"]
mod tests;
