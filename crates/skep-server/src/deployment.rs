//! `--check --deploy`: what a deployment on the internet lacks. Nothing here is wrong for a machine of one's own.

use skep::link::BaseUrl;

use crate::config::Config;
use crate::listener::{Address, UnixAddress};
use crate::proxies::{Fields, Proxies};

/// A line for each thing that is missing: what it is, what may happen, and the setting that mends it.
pub(crate) fn missing(config: &Config, base_url: Option<&BaseUrl>) -> Vec<String> {
    let is_https = base_url.is_some_and(|base| base.as_str().starts_with("https://"));
    let has_tls = config.tls.certificate.is_some();
    let trusts_nobody = config.proxies.trusted.is_empty();
    let limits = &config.limits;
    let rules = [
        (
            config.app.development,
            "development = true: error pages show causes, and requests of every host are answered; remove it",
        ),
        (
            base_url.is_none(),
            "base_url is not set: links in mails and feeds have the host that a client sends; set base_url = \"https://example.org\"",
        ),
        (
            base_url.is_some() && !is_https,
            "base_url does not begin with https://: cookies are sent in the clear; serve over TLS, and change it",
        ),
        (
            base_url.is_none() && config.hosts.is_empty(),
            "hosts is empty: the server answers for every name, also one that an attacker chose; set hosts, or base_url",
        ),
        (
            config.tls.self_signed,
            "tls.self_signed = true: browsers refuse the certificate; set tls.certificate and tls.key",
        ),
        (
            !has_tls && trusts_nobody && !config.listen.iter().all(is_local),
            "no TLS: what is sent can be read and changed on the way; set tls.certificate and tls.key, or listen on 127.0.0.1 behind a proxy",
        ),
        (
            is_https && !has_tls && trusts_nobody,
            "proxies.trusted is empty, but something in front of the server must end TLS: logs and limits take it for the only client, and requests \
             without TLS are not redirected; set proxies.trusted = \"127.0.0.1\" or the like",
        ),
        (rustix::process::geteuid().is_root() && config.user.is_none(), "the server runs as root: set user"),
        (!config.supervise, "supervise = false: a crash ends the service unless something starts it again; remove it"),
        (
            config.app.data.is_relative(),
            "data is a relative path: started elsewhere, the server begins with empty data; set data = \"/var/lib/...\"",
        ),
        (!config.log.access, "log.access = false: nobody can tell afterwards who asked for what; remove it"),
        (
            limits.connections_per_address == 0,
            "limits.connections_per_address = 0: one client may hold all connections; remove it",
        ),
        (limits.request_time.is_none(), "limits.request_time = 0: a handler that hangs is never given up; remove it"),
        (
            limits.body_time.is_none() && limits.body_rate == 0,
            "limits.body_time = 0 and limits.body_rate = 0: a client may send a body for ever; remove one of them",
        ),
    ];
    let rules = rules.into_iter().chain(of_proxies(config));
    let lines = rules.filter(|(is_missing, _)| *is_missing).map(|(_, line)| line.to_owned());
    lines.chain(exposed_caches(config)).collect()
}

/// Settings of proxies that do not fit each other.
fn of_proxies(config: &Config) -> [(bool, &'static str); 6] {
    let Proxies { trusted, fields, protocol } = &config.proxies;
    let (trusts_nobody, sets_fields) = (trusted.is_empty(), *fields != Fields::default() && !fields.is_empty());
    let is_open = |address: &UnixAddress| address.mode() & 0o002 != 0;
    [
        (
            !trusts_nobody && !*protocol && fields.hide_clients(),
            "proxies.fields has neither x-forwarded-for nor forwarded: logs and limits take a trusted proxy for the only client; add the one that \
             the proxy writes",
        ),
        (
            *protocol && trusts_nobody,
            "proxies.protocol = true, but proxies.trusted is empty: no PROXY header is read; set proxies.trusted to the proxy's address",
        ),
        (
            *protocol && sets_fields,
            "proxies.fields is set, but with proxies.protocol = true it is not read: what the PROXY header says counts; remove one of them",
        ),
        (
            trusts_nobody && sets_fields,
            "proxies.fields is set, but proxies.trusted is empty, so nothing is read; set proxies.trusted to the proxy's address",
        ),
        (
            trusted.includes_everybody(),
            "proxies.trusted includes every address: each client says itself who it is; name the proxy's address",
        ),
        (
            trusted.includes_unix() && config.listen.iter().filter_map(Address::unix).any(is_open),
            "proxies.trusted has unix, and every user of this machine can connect to the socket of listen and is believed; set mode=0660 and \
             group=...",
        ),
    ]
}

/// A line for each cache whose entries cross a network in the clear, which plain `--check` reports as well.
pub(crate) fn exposed_caches(config: &Config) -> Vec<String> {
    let exposed = config.tiers().filter(|(_, tiers)| tiers.needs().is_in_clear);
    let line = |name: &str| {
        format!(
            "cache.{name}: a tier is on another machine, and neither encrypted nor sealed: anybody on the network can read its entries and \
             replace them, sessions included; add seal=FILE to the tier, or use rediss://"
        )
    };
    exposed.map(|(name, _)| line(name)).collect()
}

/// True if only this machine can connect.
fn is_local(address: &Address) -> bool {
    match address {
        Address::Tcp { addresses, .. } => addresses.iter().all(|address| address.ip().is_loopback()),
        Address::Unix(_) | Address::Inherited(_) => true,
    }
}
