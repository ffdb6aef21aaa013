//! The five posts' experiments: what each measured, with what there is of its peers today and with Skep beside them.
//!
//! Names of variants are those of the tables in tools/posts.md, where the published figures stand beside them.

use super::{Absent, Experiment, Load, Same, Variant, variant};
use crate::goal::{Bound, Goal};
use crate::measure::Measure::Memory;
use crate::need::Guest;
use crate::program::{Module, Mpm, Nginx, Program, Sessions};

const FRESH_AND_KEPT: &[Load] = &[Load::Fresh { connections: 20 }, Load::KeepAlive { connections: 20 }];

const fn skep(mpm: Mpm, cached: bool) -> Program {
    Program::SkepPosts { mpm, cached, sessions: Sessions::Disk }
}

const fn prefork(workers: u16) -> Mpm {
    Mpm::Prefork { workers, requests: 0 }
}

const ONE_REQUEST: Mpm = Mpm::Prefork { workers: 1, requests: 1 };

const PLAIN: Program = skep(Mpm::Alone, false);

const PHP: Program = Program::Apache(Module::Php { opcache: false, per_child: 0 });

const OPCACHE: Program = Program::Apache(Module::Php { opcache: true, per_child: 0 });

const NEKO: Program = Program::Apache(Module::Neko);

const RAILS: Program = Program::Rails { workers: 0, proxied: false };

const TORA: Absent = Absent { name: "mod_tora", why: "Debian has the module for Apache, but not the tora server" };

const COUNT: &[Variant] = &[
    variant("skep", PLAIN, "/count"),
    variant("skep, a process for each request", skep(ONE_REQUEST, false), "/count"),
    variant("mod_php", PHP, "/count.php"),
    variant("mod_php with OPcache", OPCACHE, "/count.php"),
    variant("nekotools", Program::Nekotools, "/count.n"),
    variant("nekotools, cacheModule", Program::Nekotools, "/count-cached.n"),
    variant("mod_neko", NEKO, "/count.n"),
    variant("mod_neko, cacheModule", NEKO, "/count-cached.n"),
    variant("Express", Program::Express, "/count"),
    variant("Go net/http", Program::Go, "/count"),
];

const PAGE: &[Variant] = &[
    variant("skep", PLAIN, "/page"),
    variant("skep, the page kept", skep(Mpm::Alone, true), "/page"),
    variant("skep, a process for each request", skep(ONE_REQUEST, false), "/page"),
    variant("mod_php", PHP, "/page.php"),
    variant("mod_php with OPcache", OPCACHE, "/page.php"),
    variant("nekotools", Program::Nekotools, "/page.n"),
    variant("nekotools, cacheModule", Program::Nekotools, "/page-cached.n"),
    variant("mod_neko", NEKO, "/page.n"),
    variant("mod_neko, cacheModule", NEKO, "/page-cached.n"),
    variant("Ocsigen, Eliom", Program::Ocsigen, "/page"),
    variant("Rails, puma", RAILS, "/page"),
    variant("Express", Program::Express, "/page"),
    variant("Go net/http", Program::Go, "/page"),
    variant("axum, sqlx, askama", Program::AxumPosts, "/page"),
];

const HELLO: &[Variant] = &[
    variant("skep", PLAIN, "/hello"),
    variant("skep, prefork of 4", skep(prefork(4), false), "/hello"),
    variant("Rails, puma", RAILS, "/hello"),
    variant("Rails, puma behind nginx", Program::Rails { workers: 0, proxied: true }, "/hello"),
    variant("Rails, puma of 4 behind nginx", Program::Rails { workers: 4, proxied: true }, "/hello"),
    variant("Ocsigen, Eliom", Program::Ocsigen, "/hello"),
    variant("lighttpd, FastCGI in C, 20", Program::FastCgi { processes: 20 }, "/hello"),
    variant("lighttpd, FastCGI in C, 1", Program::FastCgi { processes: 1 }, "/hello"),
    variant("Express", Program::Express, "/hello"),
    variant("Go net/http", Program::Go, "/hello"),
    variant("axum", Program::Axum, "/"),
    variant("actix-web", Program::Actix, "/"),
    variant("wasmtime serve", Program::Wasmtime { guest: Guest::Wstd, tuned: false }, "/"),
];

const STATIC: &[Variant] = &[
    variant("skep", PLAIN, "/static/13.txt"),
    variant("Rails, puma", RAILS, "/13.txt"),
    variant("Ocsigen", Program::Ocsigen, "/13.txt"),
    variant("Apache", Program::Apache(Module::Event), "/13.txt"),
    variant("lighttpd", Program::Lighttpd { tuned: false }, "/13.txt"),
    variant("nginx", Program::Nginx(Nginx::Plain), "/13.txt"),
    variant("Express", Program::Express, "/13.txt"),
    variant("Go net/http", Program::Go, "/13.txt"),
];

const fn index(path: &'static str) -> [Variant; 7] {
    [
        variant("skep, thread", PLAIN, path),
        variant("skep, prefork", skep(prefork(5), false), path),
        variant("skep, a process for each request", skep(ONE_REQUEST, false), path),
        variant("Rails, puma", RAILS, path),
        variant("Express", Program::Express, path),
        variant("Go net/http", Program::Go, path),
        variant("axum, sqlx, askama", Program::AxumPosts, path),
    ]
}

const FILES: &[Variant] = &[
    variant("skep", PLAIN, "/static/13.txt"),
    variant("skep, two checks", PLAIN, "/twice/13.txt"),
    variant("skep, by a session", PLAIN, "/session/13.txt"),
    variant(
        "skep, by a session in memory",
        Program::SkepPosts { mpm: Mpm::Alone, cached: false, sessions: Sessions::Memory },
        "/session/13.txt",
    ),
    variant("skep, by a value", PLAIN, "/once/13.txt"),
    variant("Express", Program::Express, "/13.txt"),
    variant("Express, two checks", Program::Express, "/twice/13.txt"),
    variant("Express, by a session", Program::Express, "/session/13.txt"),
    variant("Express, by a value", Program::Express, "/once/13.txt"),
];

const HELLO_WORLD: Same = Same::Text("Hello, world!");

/// All of them, in the order in which they run.
pub(super) const ALL: &[Experiment] = &[
    Experiment {
        name: "post-neko-count",
        about: "a counter of the process and one of the request: the post's program",
        loads: FRESH_AND_KEPT,
        variants: COUNT,
        absent: &[TORA],
        same: Same::Times(1, ", local 1"),
        goals: &[],
    },
    Experiment {
        name: "post-neko-page",
        about: "20 rows from SQLite through a template: what the post calls a real app, in small",
        loads: FRESH_AND_KEPT,
        variants: PAGE,
        absent: &[TORA],
        same: Same::Times(articles::PER_PAGE, "<article"),
        goals: &[],
    },
    Experiment {
        name: "post-ocsigen-hello",
        about: "13 bytes from a program",
        loads: FRESH_AND_KEPT,
        variants: HELLO,
        absent: &[Absent { name: "Rails, mongrel", why: "Debian has no mongrel any more; puma took its place" }],
        same: HELLO_WORLD,
        goals: &[],
    },
    Experiment {
        name: "post-ocsigen-memory",
        about: "what all processes hold after that load, and the largest of them",
        loads: &[Load::Memory { connections: 20 }],
        variants: HELLO,
        absent: &[],
        same: HELLO_WORLD,
        goals: &[Goal::alone("skep", Memory, Bound::AtMost(4.5))],
    },
    Experiment {
        name: "post-ocsigen-static",
        about: "a file of 13 bytes",
        loads: FRESH_AND_KEPT,
        variants: STATIC,
        absent: &[Absent { name: "tntnet", why: "Debian 12 has no package of it" }],
        same: HELLO_WORLD,
        goals: &[],
    },
    Experiment {
        name: "post-treefrog-0",
        about: "a list from a table without rows, one request at a time",
        loads: &[Load::Fresh { connections: 1 }],
        variants: &index("/empty"),
        absent: &[Absent { name: "TreeFrog", why: "Debian has no package of it" }],
        same: Same::Times(1, "<h1>"),
        goals: &[],
    },
    Experiment {
        name: "post-treefrog-20",
        about: "the same with 20 rows",
        loads: &[Load::Fresh { connections: 1 }],
        variants: &index("/page"),
        absent: &[Absent { name: "TreeFrog", why: "Debian has no package of it" }],
        same: Same::Times(articles::PER_PAGE, "<article"),
        goals: &[],
    },
    Experiment {
        name: "post-dart",
        about: "a file, found by a check that a handler makes: once, twice, or handed on in a session",
        loads: &[Load::Fresh { connections: 2 }, Load::KeepAlive { connections: 2 }],
        variants: FILES,
        absent: &[Absent { name: "Dart", why: "Debian has no package of it" }],
        same: HELLO_WORLD,
        goals: &[],
    },
    Experiment {
        name: "post-perl-log",
        about: "a message that is written, by Perl's loggers into an appender that throws it away",
        loads: &[Load::Alone],
        variants: &[
            variant("Log4perl, direct", Program::Log4perl("direct"), ""),
            variant("Log4perl, by method", Program::Log4perl("method"), ""),
            variant("MooseX logger", Program::Log4perl("moosex-logger"), ""),
            variant("MooseX log", Program::Log4perl("moosex-log"), ""),
            variant("Log4perl, suppressed", Program::Log4perl("suppressed"), ""),
        ],
        absent: &[],
        same: Same::Free,
        goals: &[],
    },
];
