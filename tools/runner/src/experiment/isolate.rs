//! What a fresh instance for each request costs, beside threads, beside `wasmtime serve` and beside a module cache of
//! old.
//!
//! Goals are about CPU: a load of one core cannot fill the fastest of these servers.

use super::{Experiment, KEEP_ALIVE, Load, New, Same, Variant, variant};
use crate::goal::{Bound, Goal};
use crate::measure::Measure::{Cpu, InFlight, Memory, SlowestSwap, Swap};
use crate::need::Guest;
use crate::program::{Module, Program, Served};

const fn serve(guest: Guest, module_cache: &'static str) -> Program {
    Program::SkepServe(Served { guest, module_cache, entries: 0, copies: 1, baseline: false })
}

const fn table(module_cache: &'static str, entries: u32) -> Program {
    Program::SkepServe(Served { guest: Guest::App, module_cache, entries, copies: 1, baseline: false })
}

const fn several(guest: Guest, copies: u32) -> Program {
    Program::SkepServe(Served { guest, module_cache: "snapshot", entries: 0, copies, baseline: false })
}

const fn swapped(guest: Guest) -> Program {
    Program::SkepServe(Served { guest, module_cache: "snapshot", entries: 0, copies: 1, baseline: true })
}

const fn wasmtime(guest: Guest, tuned: bool) -> Program {
    Program::Wasmtime { guest, tuned }
}

const HELLO: &[Variant] = &[
    variant("snapshot", serve(Guest::Hello, "snapshot"), "/"),
    variant("cached", serve(Guest::Hello, "cached"), "/"),
    variant("cold", serve(Guest::Hello, "cold"), "/"),
    variant("thread", Program::SkepHello { log: false }, "/"),
    variant("wasmtime serve", wasmtime(Guest::Hello, false), "/"),
    variant("wasmtime serve, tuned", wasmtime(Guest::Hello, true), "/"),
    variant("mod_neko, cacheModule", Program::Apache(Module::Neko), "/hello-cached.n"),
    variant("wstd", serve(Guest::Wstd, "snapshot"), "/"),
    variant("wstd, wasmtime serve", wasmtime(Guest::Wstd, false), "/"),
    variant("wstd, wasmtime serve, tuned", wasmtime(Guest::Wstd, true), "/"),
];

/// All of them, in the order in which they run.
pub(super) const ALL: &[Experiment] = &[
    Experiment {
        name: "isolate-hello",
        about: "13 bytes from a component: what an instance for each request costs",
        loads: KEEP_ALIVE,
        variants: HELLO,
        absent: &[],
        same: Same::Text("Hello, world!"),
        goals: &[
            Goal::at_least("wasmtime serve", Cpu, 2.5, "snapshot"),
            Goal::at_least("wasmtime serve, tuned", Cpu, 1.6, "snapshot"),
            Goal::at_most("snapshot", Cpu, 2.5, "thread"),
            Goal::at_most("snapshot", Cpu, 1.0 / 0.6, "cached"),
            Goal::at_least("mod_neko, cacheModule", Cpu, 4.0, "snapshot"),
        ],
    },
    Experiment {
        name: "isolate-blog",
        about: "the blog's first page: 20 rows and a count from SQLite, rendered; nothing cached",
        loads: KEEP_ALIVE,
        variants: &[
            variant("snapshot", serve(Guest::Blog, "snapshot"), "/"),
            variant("cached", serve(Guest::Blog, "cached"), "/"),
            variant("thread", Program::SkepBlog { cached: false }, "/"),
        ],
        absent: &[],
        same: Same::Times(articles::PER_PAGE, "<article"),
        goals: &[Goal::at_most("snapshot", Cpu, 1.0 / 0.6, "thread")],
    },
    Experiment {
        name: "isolate-page",
        about: "what the post calls a real app: a template read from a file, and 20 rows from SQLite",
        loads: KEEP_ALIVE,
        variants: &[
            variant("snapshot", serve(Guest::App, "snapshot"), "/page"),
            variant("cached", serve(Guest::App, "cached"), "/page"),
            variant("cold", serve(Guest::App, "cold"), "/page"),
            variant("thread", Program::SkepApp, "/page"),
            variant("mod_neko", Program::Apache(Module::Neko), "/page.n"),
            variant("mod_neko, cacheModule", Program::Apache(Module::Neko), "/page-cached.n"),
        ],
        absent: &[],
        same: Same::Times(articles::PER_PAGE, "<article"),
        goals: &[Goal::at_most("snapshot", Cpu, 1.1, "cached")],
    },
    Experiment {
        name: "isolate-table",
        about: "one look-up in a table that start-up work has made",
        loads: KEEP_ALIVE,
        variants: &[
            variant("hello", table("snapshot", 0), "/"),
            variant("1 000", table("snapshot", 1_000), "/look-up/key-500"),
            variant("100 000", table("snapshot", 100_000), "/look-up/key-50000"),
            variant("1 000, cold", table("cold", 1_000), "/look-up/key-500"),
            variant("100 000, cold", table("cold", 100_000), "/look-up/key-50000"),
        ],
        absent: &[],
        same: Same::Times(1, "Hello, "),
        goals: &[
            Goal::at_most("1 000", Cpu, 1.1, "hello"),
            Goal::at_most("100 000", Cpu, 2.0, "hello"),
            Goal::at_least("100 000, cold", Cpu, 300.0, "100 000"),
        ],
    },
    Experiment {
        name: "isolate-memory",
        about: "what a server of one application holds, and one of eleven of which one is asked",
        loads: &[Load::Memory { connections: 32 }],
        variants: &[
            variant("hello", serve(Guest::Hello, "snapshot"), "/"),
            variant("hello, 11 of it", several(Guest::Hello, 11), "/"),
        ],
        absent: &[],
        same: Same::Free,
        goals: &[Goal::at_most_more("hello, 11 of it", Memory, 30.0, "hello")],
    },
    Experiment {
        name: "isolate-held",
        about: "what a request holds whose instance waits for its body, connection and all",
        loads: &[Load::Held { requests: 200 }],
        variants: &[
            variant("snapshot", serve(Guest::App, "snapshot"), "/hold"),
            variant("thread", Program::SkepApp, "/hold"),
        ],
        absent: &[],
        same: Same::Free,
        goals: &[Goal::alone("snapshot", InFlight, Bound::AtMost(200.0))],
    },
    Experiment {
        name: "isolate-swap",
        about: "from a new file to the first answer of what is in it",
        loads: &[Load::Swaps { new: New::Text }, Load::Swaps { new: New::Code }, Load::Swaps { new: New::Compiled }],
        variants: &[variant("hello", swapped(Guest::Hello), "/"), variant("blog", swapped(Guest::Blog), "/")],
        absent: &[],
        same: Same::Free,
        goals: &[
            Goal::alone("blog", Swap, Bound::AtMost(200.0)),
            Goal::alone("blog", SlowestSwap, Bound::AtMost(200.0)),
        ],
    },
];
