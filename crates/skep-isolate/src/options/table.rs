//! The table of what can be said of an application. A new row is a flag, a setting, a line of the help and a row of `docs/isolate.md`.

use std::path::PathBuf;

use super::units::{size, time};
use super::{MOST_INSTANCES, Options};
use crate::reuse::ModuleCache;
use crate::state::Dir;

/// One thing that can be said.
pub(crate) struct Row {
    /// As a setting: `module_cache`. The flag is `--module-cache`.
    pub(crate) name: &'static str,
    pub(crate) argument: &'static str,
    /// What holds if nobody says it.
    pub(crate) default: &'static str,
    pub(crate) help: &'static str,
    /// May be said more than once; in the file it is a list.
    pub(crate) repeats: bool,
    pub(super) set: fn(&mut Options, &str) -> Result<(), String>,
}

impl Row {
    pub(crate) fn flag(&self) -> String {
        format!("--{}", self.name.replace('_', "-"))
    }
}

/// All of them.
pub(crate) static TABLE: &[Row] = &[
    Row {
        name: "module_cache",
        argument: "HOW",
        default: "snapshot",
        help: "What a request begins with. `snapshot`: an instance of its own, in memory as start-up code has left it; start-up code is the \
               function `init` that components of Skep export, or `wizer-initialize`, and runs once for each version. A component that \
               exports neither begins with the memory that is in its file. `cold`: an instance of its own, in which start-up code \
               runs again. `cached`: an instance that has served before, with all that it keeps in statics: what one user leaves there, the \
               next one may see. `snapshot,cold`: snapshot, and cold if start-up code does what no image can hold.",
        repeats: false,
        set: |options, text| {
            options.module_cache =
                ModuleCache::parse(text).ok_or("expected snapshot, cold, cached, or snapshot,cold")?;
            Ok(())
        },
    },
    Row {
        name: "reuse_requests",
        argument: "N",
        default: "1000",
        help: "`cached`: how many requests an instance serves, one after the other unless --reuse-concurrency says more. From 10 on it is at most so many: each instance draws a number from the last fifth below it, so that those of one moment do not all end at once. One that traps, or runs out of time or memory, serves none after. A program that asks to be kept (`module::cache`) has no more, whatever the module cache.",
        repeats: false,
        set: |options, text| put(&mut options.reuse.requests, number(text, 1, u32::MAX)),
    },
    Row {
        name: "reuse_idle",
        argument: "TIME",
        default: "60s",
        help: "`cached`: how long an instance waits for its next request; the most that a program may ask for, too.",
        repeats: false,
        set: |options, text| put(&mut options.reuse.idle, a_time(text)),
    },
    Row {
        name: "reuse_concurrency",
        argument: "N",
        default: "1",
        help: "`cached`: how many requests an instance serves at once, for components of WASI 0.3: they give way to each other where they wait, see each other's statics, and end together if one of them traps.",
        repeats: false,
        set: |options, text| put(&mut options.reuse.at_once, number(text, 1, 1000_u32)),
    },
    Row {
        name: "memory",
        argument: "SIZE",
        default: "128MiB",
        help: "The most memory of one instance, from 64KiB to 4GiB. Beyond it a guest's `memory.grow` fails, of which most programs die: 500.",
        repeats: false,
        set: |options, text| {
            let fits = |bytes: &u64| (64 << 10..=4 << 30).contains(bytes);
            let bytes = size(text).filter(fits).and_then(|bytes| usize::try_from(bytes).ok());
            put(&mut options.memory, bytes.ok_or("expected a size from 64KiB to 4GiB, such as 64MiB"))
        },
    },
    Row {
        name: "time",
        argument: "TIME",
        default: "30s",
        help: "The time of one request, until its answer is complete; what its guest waits counts, too. Beyond it: 504, or a cut \
               answer if it has begun.",
        repeats: false,
        set: |options, text| put(&mut options.time, a_time(text)),
    },
    Row {
        name: "fuel",
        argument: "N",
        default: "no limit",
        help: "The most instructions of one request, roughly. Beyond it: 504. Counting them makes all guests of the server slower by a \
               quarter or so; --time costs nothing.",
        repeats: false,
        set: |options, text| put(&mut options.fuel, number(text, 1, u64::MAX).map(Some)),
    },
    Row {
        name: "error_page_time",
        argument: "TIME",
        default: "1s",
        help: "An application of Skep whose instance failed (trap, --time) draws its own error page in another: how long that may take. \
               Beyond it the client has the server's page.",
        repeats: false,
        set: |options, text| put(&mut options.error_page_time, a_time(text)),
    },
    Row {
        name: "instances",
        argument: "N",
        default: "1000",
        help: "How many instances there may be at once, from 1 to 10000. Requests beyond that are answered with 503.",
        repeats: false,
        set: |options, text| put(&mut options.instances, number(text, 1, MOST_INSTANCES)),
    },
    Row {
        name: "env",
        argument: "NAME=VALUE",
        default: "none",
        help: "An environment variable of the guest; NAME alone hands on the server's own.",
        repeats: true,
        set: |options, text| {
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, value.to_owned()),
                None => (text, std::env::var(text).map_err(|_| format!("the server itself has no variable {text}"))?),
            };
            if name.is_empty() {
                return Err("expected NAME=VALUE, or NAME".into());
            }
            options.env.retain(|(known, _)| known != name);
            options.env.push((name.to_owned(), value));
            Ok(())
        },
    },
    Row {
        name: "dir",
        argument: "DIR[::NAME][::rw]",
        default: "none",
        help: "A folder that the guest may read, under NAME if that is said: `data::/data`. With `::rw` it may write there, too.",
        repeats: true,
        set: |options, text| {
            options.dirs.push(dir(text)?);
            Ok(())
        },
    },
    Row {
        name: "allow_out",
        argument: "HOST[:PORT]",
        default: "none",
        help: "A host that the guest may send requests to; `*` is every host. Sockets of its own a guest never has.",
        repeats: true,
        set: |options, text| {
            if text.is_empty() || text.contains('/') {
                return Err("expected the name of a host, such as api.example.org or api.example.org:8443".into());
            }
            options.allow_out.push(text.to_owned());
            Ok(())
        },
    },
    Row {
        name: "files",
        argument: "PREFIX=DIR",
        default: "none",
        help: "Serves the files of a folder below a prefix, without waking the component: `/static=public`. What is not there is a 404.",
        repeats: true,
        set: |options, text| {
            let (prefix, dir) = text
                .split_once('=')
                .filter(|(prefix, dir)| prefix.starts_with('/') && !dir.is_empty())
                .ok_or("expected PREFIX=DIR, such as /static=public")?;
            options.files.push((super::super::table::prefix(prefix), PathBuf::from(dir)));
            Ok(())
        },
    },
    Row {
        name: "host",
        argument: "NAME",
        default: "all",
        help: "A host that the application answers for; `*.example.org` is every name below it.",
        repeats: true,
        set: |options, text| {
            if text.is_empty() || text.contains(['/', ':']) {
                return Err("expected the name of a host, such as example.org or *.example.org".into());
            }
            options.hosts.push(text.to_ascii_lowercase());
            Ok(())
        },
    },
    Row {
        name: "prefix",
        argument: "PATH",
        default: "/",
        help: "The application answers for this path and all below it. It is given the whole path.",
        repeats: false,
        set: |options, text| {
            if !text.starts_with('/') {
                return Err("expected a path, such as /shop".into());
            }
            options.prefix = super::super::table::prefix(text);
            Ok(())
        },
    },
    Row {
        name: "probe",
        argument: "PATH",
        default: "/",
        help: "The path of the request that a version answers before it is used; an answer of 500 or above means that it is not.",
        repeats: false,
        set: |options, text| {
            if !text.starts_with('/') {
                return Err("expected a path, such as /".into());
            }
            text.clone_into(&mut options.probe);
            Ok(())
        },
    },
    Row {
        name: "cache",
        argument: "NAME=TIERS",
        default: "none",
        help: "Where an application of Skep keeps the cache of this name (pages, sessions, default, its own): tiers, near to far, with commas \
               between them, as docs/caching.md has them: `pages=memory:64MiB`.",
        repeats: true,
        set: |options, text| {
            let (name, tiers) = text.split_once('=').ok_or("expected NAME=TIERS, such as pages=memory:64MiB")?;
            skep::cache::Tiers::parse(tiers.split(',')).map_err(|error| format!("expected NAME=TIERS: {error}"))?;
            options.caches.push((name.to_owned(), tiers.to_owned()));
            Ok(())
        },
    },
    Row {
        name: "watch",
        argument: "true|false",
        default: "true",
        help: "Whether a changed file is taken up while the server runs. A file that does not compile, or fails its probe, changes nothing.",
        repeats: false,
        set: |options, text| put(&mut options.watch, text.parse().map_err(|_| "expected true or false")),
    },
    Row {
        name: "baseline",
        argument: "true|false",
        default: "true",
        help: "Whether a new version begins with code of a compiler that takes a seventh of the time, and whose code is slower, until \
               the optimising one is done; and runs start-up code with it. Not with `cached`, `fuel`, more than 1500 instances in all, or WASI 0.3.",
        repeats: false,
        set: |options, text| put(&mut options.baseline, text.parse().map_err(|_| "expected true or false")),
    },
];

fn put<T>(place: &mut T, value: Result<T, impl Into<String>>) -> Result<(), String> {
    *place = value.map_err(Into::into)?;
    Ok(())
}

fn number<N: TryFrom<u64> + Into<u64>>(text: &str, least: u64, most: N) -> Result<N, String> {
    let most = most.into();
    let number = text.replace('_', "").parse::<u64>().ok().filter(|number| (least..=most).contains(number));
    number
        .and_then(|number| N::try_from(number).ok())
        .ok_or_else(|| format!("expected a number from {least} to {most}"))
}

fn a_time(text: &str) -> Result<std::time::Duration, &'static str> {
    time(text).filter(|time| !time.is_zero()).ok_or("expected a time, such as 500ms, 30s or 5m")
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
        return Err(format!("{host} is no folder"));
    }
    Ok(Dir { host: path, guest: guest.to_owned(), may_write })
}

/// The name that was probably meant.
pub(crate) fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let close = |far: usize| far <= 2 && far * 2 < word.len();
    let all = names.map(|name| (distance(word.as_bytes(), name.as_bytes()), name));
    all.filter(|(far, _)| close(*far)).min().map(|(_, name)| name)
}

/// How many letters must be put in, left out or replaced to make the one of the other (Levenshtein).
fn distance(one: &[u8], other: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.iter().enumerate() {
        let mut diagonal = line;
        row[0] = line + 1;
        for (at, with) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != with);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(name: &str, values: &[&str]) -> Result<Options, String> {
        let row = TABLE.iter().find(|row| row.name == name).unwrap();
        let mut options = Options::default();
        values.iter().try_for_each(|value| options.set(row, value)).map(|()| options)
    }

    #[test]
    fn every_default_is_what_the_table_says() {
        for row in TABLE.iter().filter(|row| !matches!(row.default, "none" | "all" | "no limit")) {
            assert_eq!(said(row.name, &[row.default]).as_ref(), Ok(&Options::default()), "{}", row.name);
        }
    }

    #[test]
    fn a_wrong_value_is_told_what_would_be_right() {
        for row in TABLE.iter().filter(|row| row.name != "env") {
            let error = said(row.name, &[""]).unwrap_err();
            assert!(error.starts_with("expected "), "{}: {error}", row.name);
        }
        assert_eq!(said("instances", &["0"]).unwrap_err(), "expected a number from 1 to 10000");
        assert_eq!(said("dir", &["no/such/folder"]).unwrap_err(), "no/such/folder is no folder");
    }

    #[test]
    fn values_mean_what_they_say() {
        assert_eq!(said("memory", &["64MiB"]).unwrap().memory, 64 << 20);
        assert_eq!(said("fuel", &["1_000_000"]).unwrap().fuel, Some(1_000_000));
        assert_eq!(said("prefix", &["/shop/"]).unwrap().prefix, "/shop");
        assert_eq!(
            said("env", &["A=1", "B=2=3", "A=4"]).unwrap().env,
            [("B".into(), "2=3".into()), ("A".into(), "4".into())]
        );
        let dirs = said("dir", &[".::/data::rw", "."]).unwrap().dirs;
        assert_eq!((dirs[0].guest.as_str(), dirs[0].may_write), ("/data", true));
        assert_eq!((dirs[1].guest.as_str(), dirs[1].may_write), (".", false));
        assert_eq!(
            said("module_cache", &["snapshot,cold"]).unwrap().module_cache,
            ModuleCache::Snapshot { or_cold: true }
        );
    }

    #[test]
    fn a_slip_is_understood() {
        let names = || TABLE.iter().map(|row| row.name);
        assert_eq!(nearest("module_cahce", names()), Some("module_cache"));
        assert_eq!(nearest("memmory", names()), Some("memory"));
        assert_eq!(nearest("xyzzy", names()), None);
    }
}
