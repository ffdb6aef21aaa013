//! The settings of a component: `component.memory` for all of them, with a flag, and `component.NAME.memory` for one.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use skep::settings::{Kind, Row, Value};

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
        let row = |name: String, default: &'static str, help: Cow<'static, str>| Row {
            name: name.into(),
            kind: self.kind.clone(),
            default: default.into(),
            is_required: false,
            is_secret: false,
            flag: None,
            help,
        };
        let all = row(format!("component.{}", self.name), self.default, self.help.into());
        let help = format!("The same for the component NAME. `component.{}` applies where this is not set.", self.name);
        let one = row(format!("component.NAME.{}", self.name), "", help.into());
        [Row { flag: Some((flag.into(), self.argument)), ..all }, one]
    }
}

const YEAR: u64 = 366 * 86_400_000;
const COUNT: Kind = Kind::Number(1..=u32::MAX as u64);
const DURATION: Kind = Kind::Duration(1..=YEAR);

/// All of them.
pub(crate) static SETTINGS: &[Setting] = &[
    Setting {
        name: "module_cache",
        kind: Kind::Choice(&["snapshot", "cold", "cached", "snapshot,cold"]),
        argument: "MODE",
        default: "snapshot",
        help: "State with which a request begins. `snapshot`: an instance of its own, restored from a snapshot taken after the start-up \
               code (the function `init` that components of Skep export, or `wizer-initialize`). `cold`: an instance of its own, in which \
               start-up code runs again. `cached`: an instance that has served before, with its statics: data of one user may reach the \
               next. `snapshot,cold`: `snapshot`, and `cold` if a snapshot cannot be taken.",
        set: |options, value| {
            options.module_cache = ModuleCache::parse(&value.to_string()).ok_or("expected snapshot, cold or cached")?;
            Ok(())
        },
    },
    Setting {
        name: "reuse_requests",
        kind: COUNT,
        argument: "N",
        default: "1000",
        help: "`cached`: maximum number of requests of an instance. From 10 on, each instance draws its own maximum from the upper fifth, \
               so that instances do not all end together. An instance that traps, or exceeds its time or memory, ends at once. A program \
               that asks for reuse (`module::cache`) has this limit, too.",
        set: |options, value| number(&mut options.reuse.requests, value),
    },
    Setting {
        name: "reuse_idle",
        kind: DURATION,
        argument: "TIME",
        default: "60s",
        help: "`cached`: time after which an idle instance ends. It limits what a program may ask for, too.",
        set: |options, value| duration(&mut options.reuse.idle, value),
    },
    Setting {
        name: "memory",
        kind: Kind::Size(64 << 10..=4 << 30),
        argument: "SIZE",
        default: "128MiB",
        help: "Maximum memory of an instance. Beyond it `memory.grow` fails, which ends most programs (500).",
        set: |options, value| number(&mut options.memory, value),
    },
    Setting {
        name: "time",
        kind: DURATION,
        argument: "TIME",
        default: "30s",
        help: "Time limit of a request until its response is complete, waiting included (504, or a response that is cut off).",
        set: |options, value| duration(&mut options.time, value),
    },
    Setting {
        name: "fuel",
        kind: Kind::Number(0..=u64::MAX),
        argument: "N",
        default: "0",
        help: "Maximum number of instructions of a request, roughly (504). 0 means no limit. Counting slows all components by about a \
               quarter; `component.time` costs nothing.",
        set: |options, value| {
            let mut fuel = 0_u64;
            number(&mut fuel, value)?;
            options.fuel = Some(fuel).filter(|fuel| *fuel > 0);
            Ok(())
        },
    },
    Setting {
        name: "error_page_time",
        kind: DURATION,
        argument: "TIME",
        default: "1s",
        help: "Time limit of the error page that an application of Skep draws for a request whose instance failed. Beyond it the server's \
               own page is sent.",
        set: |options, value| duration(&mut options.error_page_time, value),
    },
    Setting {
        name: "instances",
        kind: Kind::Number(1..=MOST_INSTANCES as u64),
        argument: "N",
        default: "1000",
        help: "Maximum number of instances at the same time; further requests are refused (503). Many components share 10000 if this is \
               not set.",
        set: |options, value| number(&mut options.instances, value),
    },
    Setting {
        name: "env",
        kind: Kind::List("NAME=VALUE, or NAME for the server's own"),
        argument: "NAME=VALUE",
        default: "",
        help: "Environment variables of the component. NAME alone passes the server's own variable.",
        set: |options, value| each(value, |text| env(options, text)),
    },
    Setting {
        name: "dir",
        kind: Kind::List("DIR, DIR::NAME or DIR::NAME::rw"),
        argument: "DIR[::NAME][::rw]",
        default: "",
        help: "Directories that the component may read, under NAME if given: `data::/data`. With `::rw` it may write, too.",
        set: |options, value| {
            each(value, |text| {
                let _: () = options.dirs.push(dir(text)?);
                Ok(())
            })
        },
    },
    Setting {
        name: "allow_out",
        kind: Kind::List("the name of a host, such as api.example.org or api.example.org:8443"),
        argument: "HOST[:PORT]",
        default: "",
        help: "Hosts to which the component may send requests; `*` is every host. A component has no sockets of its own.",
        set: |options, value| {
            each(value, |text| {
                if text.contains('/') {
                    return Err("expected the name of a host, such as api.example.org or api.example.org:8443".into());
                }
                options.allow_out.push(text.to_owned());
                Ok(())
            })
        },
    },
    Setting {
        name: "files",
        kind: Kind::List("PREFIX=DIR, such as /static=public"),
        argument: "PREFIX=DIR",
        default: "",
        help: "Directories served without the component: `/static=public`. A file that does not exist is a 404.",
        set: |options, value| each(value, |text| files(options, text)),
    },
    Setting {
        name: "host",
        kind: Kind::List("the name of a host, such as example.org or *.example.org"),
        argument: "NAME",
        default: "",
        help: "Host names that the component serves; `*.example.org` is every name below it. Empty means every host.",
        set: |options, value| {
            each(value, |text| {
                if text.contains(['/', ':']) {
                    return Err("expected the name of a host, such as example.org or *.example.org".into());
                }
                options.hosts.push(text.to_ascii_lowercase());
                Ok(())
            })
        },
    },
    Setting {
        name: "prefix",
        kind: Kind::Path,
        argument: "PATH",
        default: "/",
        help: "Path that the component serves, with all below it. The component sees the whole path.",
        set: |options, value| {
            options.prefix = crate::prefix::prefix(&path(value)?);
            Ok(())
        },
    },
    Setting {
        name: "probe",
        kind: Kind::Path,
        argument: "PATH",
        default: "/",
        help: "Path of the request that a version answers before it serves; a status of 500 or above rejects the version.",
        set: |options, value| {
            options.probe = path(value)?;
            Ok(())
        },
    },
    Setting {
        name: "cache",
        kind: Kind::List("NAME=TIER, and more tiers as elements of their own"),
        argument: "NAME=TIERS",
        default: "",
        help: "Tiers of the cache NAME of an application of Skep (`pages`, `sessions`, `default`, its own), from near to far: \
               `pages=memory:64MiB; redis:cache1`. A tier without a name belongs to the cache before it.",
        set: caches,
    },
    Setting {
        name: "watch",
        kind: Kind::Choice(&["true", "false"]),
        argument: "true|false",
        default: "true",
        help: "Swap to a changed file while the server runs. A file that does not compile, or fails its probe, changes nothing.",
        set: |options, value| switch(&mut options.watch, value),
    },
    Setting {
        name: "baseline",
        kind: Kind::Choice(&["true", "false"]),
        argument: "true|false",
        default: "true",
        help: "Serve a new version with code of the baseline compiler, which compiles seven times as fast, until optimised code is ready. \
               Not with `cached`, `fuel`, more than 1500 instances in all, or WASI 0.3.",
        set: |options, value| switch(&mut options.baseline, value),
    },
    Setting {
        name: "page_fault_shortcut",
        kind: Kind::Choice(&["true", "false"]),
        argument: "true|false",
        default: "false",
        help: "`snapshot`: skip the scan for written pages when an instance is reset and its thread has met no page fault since the last reset, \
               which saves some 3 us of CPU per request. The kernel does not promise that its fault counter tells this: one use in 64 is \
               checked, and a missed page is an error in the log, discards the instance and turns the shortcut off until the server \
               restarts.",
        set: |options, value| switch(&mut options.page_fault_shortcut, value),
    },
];

fn number<N: TryFrom<u64>>(field: &mut N, value: &Value) -> Result<(), String> {
    if let Value::Number(number) | Value::Size(number) = value {
        *field = N::try_from(*number).map_err(|_| "the number is too large for this machine")?;
    }
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "the setters of the table have one type")]
fn duration(field: &mut Duration, value: &Value) -> Result<(), String> {
    if let Value::Duration(time) = value {
        *field = *time;
    }
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "the setters of the table have one type")]
fn switch(field: &mut bool, value: &Value) -> Result<(), String> {
    *field = value.to_string() == "true";
    Ok(())
}

fn path(value: &Value) -> Result<String, String> {
    Some(value.to_string()).filter(|path| path.starts_with('/')).ok_or_else(|| "expected a path, such as /shop".into())
}

fn each(value: &Value, mut set: impl FnMut(&str) -> Result<(), String>) -> Result<(), String> {
    match value {
        Value::List(list) => list.iter().try_for_each(|element| set(element)),
        _ => Ok(()),
    }
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

fn files(options: &mut Options, text: &str) -> Result<(), String> {
    let (prefix, dir) = text
        .split_once('=')
        .filter(|(prefix, dir)| prefix.starts_with('/') && !dir.is_empty())
        .ok_or("expected PREFIX=DIR, such as /static=public")?;
    options.files.push((crate::prefix::prefix(prefix), PathBuf::from(dir)));
    Ok(())
}

/// `pages=memory:8MiB`, `redis:cache1`, `sessions=...`: an element without a name is one more tier.
fn caches(options: &mut Options, value: &Value) -> Result<(), String> {
    each(value, |element| {
        let named = element.split_once('=').filter(|(name, _)| !name.contains([':', ' ']));
        match (named, options.caches.last_mut()) {
            (Some((name, tier)), _) => options.caches.push((name.to_owned(), vec![tier.trim().to_owned()])),
            (None, Some((_, tiers))) => tiers.push(element.to_owned()),
            (None, None) => return Err("expected NAME=TIERS, such as pages=memory:64MiB".into()),
        }
        Ok(())
    })?;
    options.caches.iter().try_for_each(|(name, tiers)| {
        skep::cache::Tiers::parse(tiers).map(drop).map_err(|error| format!("cache {name}: {error}"))
    })
}

fn dir(text: &str) -> Result<Dir, String> {
    let parts: Vec<&str> = text.split("::").collect();
    let (host, guest, may_write) = match parts.as_slice() {
        [host, "rw"] => (*host, *host, true),
        [host] => (*host, *host, false),
        [host, guest, "rw"] => (*host, *guest, true),
        [host, guest] => (*host, *guest, false),
        _ => return Err("expected DIR, DIR::NAME or DIR::NAME::rw".into()),
    };
    if host.is_empty() || guest.is_empty() {
        return Err("expected DIR, DIR::NAME or DIR::NAME::rw".into());
    }
    let path = PathBuf::from(host);
    if !path.is_dir() {
        return Err(format!("{host} is not a directory"));
    }
    Ok(Dir { host: path, guest: guest.to_owned(), may_write })
}
