//! What web applications do all day: JSON, forms, sessions, many routes, compressed pages.

use super::{Experiment, KEEP_ALIVE, Load, Request, Same, Variant, variant};
use crate::goal::Goal;
use crate::measure::Measure::{Cpu, Rate};
use crate::program::{Nginx, People, Program, Tasks};
use crate::site;

const SKEP: Program = Program::SkepTasks(Tasks { routes: 2, tls: false });

const AXUM: Program = Program::AxumTasks { routes: 2 };

const fn both(path: &'static str) -> [Variant; 2] {
    [variant("skep", SKEP, path), variant("axum", AXUM, path)]
}

const COMPRESSED: &[Variant] = &[
    variant("skep", SKEP, "/page"),
    variant("skep-cached", SKEP, "/page-cached"),
    variant("nginx", Program::Nginx(Nginx::Gzip), "/30k.html"),
];

const COMPRESSED_GOALS: &[Goal] =
    &[Goal::at_most("skep", Cpu, 1.0, "nginx"), Goal::at_most("skep-cached", Cpu, 1.0, "nginx")];

/// All of them, in the order in which they run.
pub(super) const ALL: &[Experiment] = &[
    Experiment {
        name: "json",
        about: "20 rows from memory as JSON",
        loads: KEEP_ALIVE,
        variants: &both("/json"),
        absent: &[],
        same: Same::Times(articles::PER_PAGE, "\"slug\":"),
        goals: &[Goal::at_most("skep", Cpu, 0.8, "axum")],
    },
    Experiment {
        name: "form",
        about: "a form of 1 KB, posted, with three fields that are validated",
        loads: &[Load::Requests { connections: 32, request: Request::Form }],
        variants: &both("/form"),
        absent: &[],
        same: Same::Text("980 bytes from Anna Bee <anna@example.org>"),
        goals: &[Goal::at_most("skep", Cpu, 0.9, "axum")],
    },
    Experiment {
        name: "session",
        about: "a page that reads the session of its visitor, from memory",
        loads: &[Load::Requests { connections: 32, request: Request::Cookie }],
        variants: &both("/session"),
        absent: &[],
        same: Same::Times(1, "<h1>Welcome back, Anna</h1>"),
        goals: &[Goal::at_most("skep", Cpu, 0.8, "axum")],
    },
    Experiment {
        name: "people",
        about: "a page that knows its user, beside the same page that knows nobody",
        loads: &[Load::Requests { connections: 32, request: Request::Entered }],
        variants: &[
            variant("page", Program::SkepPeople(People::Shared), "/page"),
            variant("session-cookie", Program::SkepPeople(People::Cookie), "/session"),
            variant("session-shared", Program::SkepPeople(People::Shared), "/session"),
            variant("user", Program::SkepPeople(People::Accounts), "/user"),
        ],
        absent: &[],
        same: Same::Times(1, "<h1>Welcome back, Anna</h1>"),
        goals: &[
            Goal::at_least("session-cookie", Rate, 0.95, "page"),
            Goal::at_least("session-shared", Rate, 0.95, "page"),
            Goal::at_most_more("user", Cpu, 8.0, "page"),
        ],
    },
    Experiment {
        name: "routes",
        about: "an application of 200 routes, beside one of 2",
        loads: KEEP_ALIVE,
        variants: &[
            variant("skep-2", SKEP, "/part1/7"),
            variant("skep-200", Program::SkepTasks(Tasks { routes: 200, tls: false }), "/part1/7"),
            variant("axum-2", AXUM, "/part1/7"),
            variant("axum-200", Program::AxumTasks { routes: 200 }, "/part1/7"),
        ],
        absent: &[],
        same: Same::Text("part 7"),
        goals: &[Goal::at_most("skep-200", Cpu, 1.02, "skep-2")],
    },
    Experiment {
        name: "gzip",
        about: "a page of 30 KB, compressed for each request; in skep-cached once",
        loads: &[Load::Requests { connections: 32, request: Request::Gzip }],
        variants: COMPRESSED,
        absent: &[],
        same: Same::Times(site::PAGE_ARTICLES, "<article"),
        goals: COMPRESSED_GOALS,
    },
    Experiment {
        name: "zstd",
        about: "the same with zstd, which nginx does not have: it answers in gzip",
        loads: &[Load::Requests { connections: 32, request: Request::Zstd }],
        variants: COMPRESSED,
        absent: &[],
        same: Same::Times(site::PAGE_ARTICLES, "<article"),
        goals: COMPRESSED_GOALS,
    },
];
