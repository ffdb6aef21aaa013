//! The settings of a component: `component.memory` for all of them, with a flag, and `component.NAME.memory` for one.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use skep::Secret;
use skep::settings::{Kind, Row, Value};
use skep_server::outgoing::Reach;

use super::{MOST_INSTANCES, Options};
use crate::reuse::ModuleCache;
use crate::state::Dir;

/// One setting of a component.
pub(crate) struct Setting {
    /// `module_cache`; the flag is `--module-cache`.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// What the flag's argument is called.
    argument: &'static str,
    default: &'static str,
    help: &'static str,
    pub(crate) set: fn(&mut Options, &Value) -> Result<(), String>,
}

impl Setting {
    /// The row for all components, and the row for one.
    pub(crate) fn rows(&self) -> [Row; 2] {
        let flag = format!("--{}", self.name.replace('_', "-"));
        let is_secret = SECRETS.contains(&self.name);
        let row = |name, default, help| Row { is_secret, ..row(name, self.kind.clone(), default, help) };
        let all = row(format!("component.{}", self.name), self.default, self.help.to_owned());
        let help = format!("The same for the component NAME. `component.{}` applies where this is not set.", self.name);
        let one = row(format!("component.NAME.{}", self.name), "", help);
        // Others see the command line.
        let flag = (!is_secret).then(|| (flag.into(), self.argument));
        [Row { flag, ..all }, one]
    }
}

/// Settings whose values are never printed.
const SECRETS: [&str; 1] = ["database"];

/// A row that is not required, not secret, and has no flag.
pub(crate) fn row(
    name: impl Into<Cow<'static, str>>,
    kind: Kind,
    default: &'static str,
    help: impl Into<Cow<'static, str>>,
) -> Row {
    let (name, default, help) = (name.into(), default.into(), help.into());
    Row { name, kind, default, is_required: false, is_secret: false, flag: None, help }
}

const YEAR: u64 = 366 * 86_400_000;
const COUNT: Kind = Kind::Number(1..=u32::MAX as u64);
const DURATION: Kind = Kind::Duration(1..=YEAR);
const SWITCH: Kind = Kind::Choice(&["true", "false"]);
const OUT: &str = "hosts, such as api.example.org, api.example.org:8443, 10.0.0.7:8080, * or private";
const HOST: &str = "the name of a host, such as example.org or *.example.org";

/// Rows of settings: name, argument of the flag, kind, default, help, and what stores a value of this kind.
macro_rules! settings {
    ($($name:ident $argument:literal: $kind:expr, $default:literal, $help:literal, |$options:ident, $value:ident| $set:expr;)+) => {
        pub(crate) static SETTINGS: &[Setting] = &[$(Setting {
            name: stringify!($name),
            kind: $kind,
            argument: $argument,
            default: $default,
            help: $help,
            set: |$options, $value| {
                $set;
                Ok(())
            },
        }),+];
    };
}

settings! {
    module_cache "MODE": Kind::Choice(&["snapshot", "cold", "cached", "snapshot,cold"]), "snapshot",
        "State with which a request begins. `snapshot`: an instance of its own, restored from a snapshot taken after the start-up \
         code (the function `init` that components of Skep export, or `wizer-initialize`). `cold`: an instance of its own, in which \
         start-up code runs again. `cached`: an instance that has served before, with its statics: data of one user may reach the \
         next. `snapshot,cold`: `snapshot`, and `cold` if a snapshot cannot be taken.",
        |options, value| options.module_cache = ModuleCache::parse(&value.to_string()).ok_or("expected snapshot, cold or cached")?;
    reuse_requests "N": COUNT, "1000",
        "`cached`: maximum number of requests of an instance. From 10 on, each instance draws its own maximum from the upper fifth, \
         so that instances do not all end together. An instance that traps, or exceeds its time or memory, ends at once. A program \
         that asks for reuse (`module::cache`) has this limit, too.",
        |options, value| options.reuse.requests = number(value)?;
    reuse_idle "TIME": DURATION, "60s",
        "`cached`: time after which an idle instance ends. It limits what a program may ask for, too.",
        |options, value| options.reuse.idle = duration(value);
    memory "SIZE": Kind::Size(64 << 10..=4 << 30), "128MiB",
        "Maximum memory of an instance. Beyond it `memory.grow` fails, which ends most programs (500).",
        |options, value| options.memory = number(value)?;
    time "TIME": DURATION, "30s",
        "Time limit of a request until its response is complete, waiting included (504, or a response that is cut off).",
        |options, value| options.time = duration(value);
    fuel "N": Kind::Number(0..=u64::MAX), "0",
        "Maximum number of instructions of a request, roughly (504). 0 means no limit. Counting slows all components by about a \
         quarter; `component.time` costs nothing.",
        |options, value| options.fuel = Some(number(value)?).filter(|fuel| *fuel > 0);
    error_page_time "TIME": DURATION, "1s",
        "Time limit of the error page that an application of Skep draws for a request whose instance failed. Beyond it the server's \
         own page is sent.",
        |options, value| options.error_page_time = duration(value);
    instances "N": Kind::Number(1..=MOST_INSTANCES as u64), "1000",
        "Maximum number of instances at the same time; further requests are refused (503). Many components share 10000 if this is \
         not set.",
        |options, value| options.instances = number(value)?;
    database_size "SIZE": Kind::Size(64 << 10..=1024 << 30), "1GiB",
        "Maximum size of the database of an application of Skep; beyond it, writes fail (503). Directories that it may write to have no such limit.",
        |options, value| options.database_size = number(value)?;
    database "URL": Kind::Text, "",
        "Address of a PostgreSQL database for the component, an application of Skep with migrations for PostgreSQL: `postgres://USER:PASSWORD@HOST/NAME`. \
         Empty means the server's `database`, and if that is empty, too, SQLite.",
        |options, value| options.database = Some(value.to_string()).filter(|text| !text.is_empty()).map(Secret::new);
    env "NAME=VALUE": Kind::List("NAME=VALUE, or NAME for the server's own"), "",
        "Environment variables of the component. NAME alone passes the server's own variable.",
        |options, value| list(value).iter().try_for_each(|text| env(options, text))?;
    dir "DIR[::NAME][::rw]": Kind::List("DIR, DIR::NAME or DIR::NAME::rw"), "",
        "Directories that the component may read, under NAME if given: `data::/data`. With `::rw` it may write, too.",
        |options, value| options.dirs = list(value).iter().map(|text| dir(text)).collect::<Result<_, _>>()?;
    allow_out "HOST[:PORT]": Kind::List(OUT), "",
        "Hosts to which the component may send requests: `api.example.org`, with a port (`api.example.org:8443`), `*.example.org`, or `*` for \
         all. The address that a host leads to must be of the public internet or one of the list itself (`10.0.0.7:8080`); the word `private` in \
         the list allows all. A component has no sockets of its own.",
        |options, value| options.allow_out = Reach::parse(list(value))?;
    files "PREFIX=DIR": Kind::List("PREFIX=DIR, such as /static=public"), "",
        "Directories served without the component: `/static=public`. A file that does not exist is a 404.",
        |options, value| options.files = list(value).iter().map(|text| files(text)).collect::<Result<_, _>>()?;
    host "NAME": Kind::List(HOST), "",
        "Host names that the component serves; `*.example.org` is every name below it. Empty means every host.",
        |options, value| options.hosts = hosts(value, &['/', ':'], HOST)?.iter().map(|host| host.to_ascii_lowercase()).collect();
    prefix "PATH": Kind::Path, "/",
        "Path that the component serves, with all below it. The component sees the whole path.",
        |options, value| options.prefix = crate::prefix::prefix(&path(value)?);
    probe "PATH": Kind::Path, "/",
        "Path of the request that a version answers before it serves; a status of 500 or above rejects the version.",
        |options, value| options.probe = path(value)?;
    cache "NAME=TIERS": Kind::List("NAME=TIER, and more tiers as elements of their own"), "",
        "Tiers of the cache NAME of an application of Skep (`pages`, `sessions`, `default`, its own), from near to far: \
         `pages=memory:64MiB; redis:cache1`. A tier without a name belongs to the cache before it.",
        |options, value| options.caches = caches(list(value))?;
    watch "true|false": SWITCH, "true",
        "Swap to a changed file while the server runs. A file that does not compile, or fails its probe, changes nothing.",
        |options, value| options.watch = value.to_string() == "true";
    baseline "true|false": SWITCH, "false",
        "Serve a new version with code of the baseline compiler, which compiles seven times as fast, until optimised code is ready. \
         Turn it on for components that you trust: it is the younger of the compilers. Not with `cached`, `fuel`, more than 1500 instances in all, or WASI 0.3.",
        |options, value| options.baseline = value.to_string() == "true";
    page_fault_shortcut "true|false": SWITCH, "false",
        "`snapshot`: skip the scan for written pages when an instance is reset and its thread has met no page fault since the last reset, \
         which saves some 3 us of CPU per request. The kernel does not promise that its fault counter tells this: one use in 64 is \
         checked, and a missed page is an error in the log, discards the instance and turns the shortcut off until the server \
         restarts.",
        |options, value| options.page_fault_shortcut = value.to_string() == "true";
}

fn number<N: TryFrom<u64>>(value: &Value) -> Result<N, String> {
    let (Value::Number(number) | Value::Size(number)) = value else {
        unreachable!("the kind of this setting is a number")
    };
    N::try_from(*number).map_err(|_| "the number is too large for this machine".to_owned())
}

fn duration(value: &Value) -> Duration {
    let Value::Duration(time) = value else { unreachable!("the kind of this setting is a time") };
    *time
}

fn list(value: &Value) -> &[String] {
    let Value::List(list) = value else { unreachable!("the kind of this setting is a list") };
    list
}

fn path(value: &Value) -> Result<String, String> {
    Some(value.to_string()).filter(|path| path.starts_with('/')).ok_or_else(|| "expected a path, such as /shop".into())
}

fn hosts(value: &Value, forbidden: &[char], expected: &str) -> Result<Vec<String>, String> {
    let is_wrong = |host: &String| host.contains(forbidden);
    if list(value).iter().any(is_wrong) { Err(format!("expected {expected}")) } else { Ok(list(value).to_vec()) }
}

fn env(options: &mut Options, text: &str) -> Result<(), String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, value.to_owned()),
        None => (text, std::env::var(text).map_err(|_| format!("the server has no variable {text}"))?),
    };
    if name.is_empty() {
        return Err("expected NAME=VALUE, or NAME".into());
    }
    options.env.retain(|(known, _)| known != name);
    options.env.push((name.to_owned(), value));
    Ok(())
}

fn files(text: &str) -> Result<(String, PathBuf), String> {
    let (prefix, dir) = text
        .split_once('=')
        .filter(|(prefix, dir)| prefix.starts_with('/') && !dir.is_empty())
        .ok_or("expected PREFIX=DIR, such as /static=public")?;
    Ok((crate::prefix::prefix(prefix), PathBuf::from(dir)))
}

/// `pages=memory:8MiB`, `redis:cache1`, `sessions=...`: an element without a name is one more tier.
fn caches(elements: &[String]) -> Result<Vec<(String, Vec<String>)>, String> {
    let mut caches: Vec<(String, Vec<String>)> = Vec::new();
    for element in elements {
        let named = element.split_once('=').filter(|(name, _)| !name.contains([':', ' ']));
        match (named, caches.last_mut()) {
            (Some((name, tier)), _) => caches.push((name.to_owned(), vec![tier.trim().to_owned()])),
            (None, Some((_, tiers))) => tiers.push(element.clone()),
            (None, None) => return Err("expected NAME=TIERS, such as pages=memory:64MiB".into()),
        }
    }
    for (name, tiers) in &caches {
        skep::cache::Tiers::parse(tiers).map_err(|error| format!("cache {name}: {error}"))?;
    }
    Ok(caches)
}

fn dir(text: &str) -> Result<Dir, String> {
    let (place, may_write) = text.strip_suffix("::rw").map_or((text, false), |place| (place, true));
    let (host, guest) = place.split_once("::").unwrap_or((place, place));
    if host.is_empty() || guest.is_empty() || guest.contains("::") {
        return Err("expected DIR, DIR::NAME or DIR::NAME::rw".into());
    }
    let path = PathBuf::from(host);
    if !path.is_dir() {
        return Err(format!("{host} is not a directory"));
    }
    Ok(Dir { host: path, guest: guest.to_owned(), may_write })
}
