//! What processes cost, beside threads and beside Apache.
//!
//! What is measured lies between two variants of one program: both run under their supervisor, as they would be
//! deployed.

use super::{Experiment, KEEP_ALIVE, Load, Same, Whose, variant};
use crate::goal::{Bound, Goal};
use crate::measure::Measure::{Cpu, OneMore, Rate, SlowestSuccession, Succession, Supervisor};
use crate::program::{App, Module, Mpm, Program};

const FRESH: &[Load] = &[Load::Fresh { connections: 32 }];

const fn thread(app: App) -> Program {
    Program::SkepProcesses { app, mpm: Mpm::Thread }
}

const fn prefork(app: App, requests: u32) -> Program {
    Program::SkepProcesses { app, mpm: Mpm::Prefork { workers: 1, requests } }
}

const fn apache(per_child: u32) -> Program {
    Program::Apache(Module::Php { opcache: true, per_child })
}

/// All of them, in the order in which they run.
pub(super) const ALL: &[Experiment] = &[
    Experiment {
        name: "processes-hello",
        about: "13 bytes, keep-alive: what a process of one thread costs that is one of several, beside a thread",
        loads: KEEP_ALIVE,
        variants: &[variant("thread", thread(App::Hello), "/"), variant("prefork", prefork(App::Hello, 0), "/")],
        absent: &[],
        same: Same::Text("Hello, world!"),
        goals: &[Goal::at_least("prefork", Rate, 0.97, "thread")],
    },
    Experiment {
        name: "processes-new",
        about: "13 bytes, a new connection for each request: what fork, first touch and exit cost",
        loads: FRESH,
        variants: &[
            variant("thread", thread(App::Hello), "/"),
            variant("prefork", prefork(App::Hello, 0), "/"),
            variant("prefork-1", prefork(App::Hello, 1), "/"),
            variant("heap-thread", thread(App::Heap), "/"),
            variant("heap-prefork-1", prefork(App::Heap, 1), "/"),
            variant("apache", apache(0), "/hello.php"),
            variant("apache-1", apache(1), "/hello.php"),
        ],
        absent: &[],
        same: Same::Text("Hello, world!"),
        goals: &[
            Goal::at_most_more("prefork-1", Cpu, 120.0, "thread"),
            Goal::at_most_more("heap-prefork-1", Cpu, 160.0, "heap-thread"),
        ],
    },
    Experiment {
        name: "processes-blog",
        about: "the blog's first page, a new connection for each request; nothing is cached",
        loads: FRESH,
        variants: &[
            variant("thread", thread(App::Blog), "/"),
            variant("prefork-100", prefork(App::Blog, 100), "/"),
            variant("prefork-1", prefork(App::Blog, 1), "/"),
            variant("apache", apache(0), "/list.php"),
            variant("apache-1", apache(1), "/list.php"),
        ],
        absent: &[],
        same: Same::Times(articles::PER_PAGE, "<article"),
        goals: &[
            Goal::at_least("prefork-1", Rate, 0.2, "thread"),
            Goal::at_least("prefork-100", Rate, 0.9, "thread"),
            Goal::at_least("prefork-100", Rate, 2.0, "apache"),
            Goal::at_least("prefork-1", Rate, 2.0, "apache-1"),
        ],
    },
    Experiment {
        name: "processes-memory",
        about: "what the supervisor holds, what all processes hold, and what one more of them adds",
        loads: &[Load::Processes { connections: 32 }],
        variants: &[
            variant("blog-prefork", prefork(App::Blog, 0), "/"),
            variant("blog-thread", thread(App::Blog), "/"),
            variant("hello-prefork", prefork(App::Hello, 0), "/"),
            variant("hello-thread", thread(App::Hello), "/"),
        ],
        absent: &[],
        same: Same::Free,
        goals: &[
            Goal::alone("blog-prefork", OneMore, Bound::AtMost(1.0)),
            Goal::alone("blog-prefork", Supervisor, Bound::AtMost(1.5)),
            Goal::alone("blog-thread", Supervisor, Bound::AtMost(1.5)),
            Goal::alone("hello-thread", Supervisor, Bound::AtMost(1.5)),
        ],
    },
    Experiment {
        name: "processes-death",
        about: "kill -9 of the only process that serves, until its successor has answered",
        loads: &[Load::Deaths { whose: Whose::Worker }, Load::Deaths { whose: Whose::Parent }],
        variants: &[
            variant("blog-prefork", prefork(App::Blog, 0), "/"),
            variant("blog-thread", thread(App::Blog), "/"),
            variant("hello-prefork", prefork(App::Hello, 0), "/"),
            variant("hello-thread", thread(App::Hello), "/"),
        ],
        absent: &[],
        same: Same::Free,
        goals: &[
            Goal::alone("blog-prefork", Succession, Bound::AtMost(20.0)),
            Goal::alone("blog-prefork", SlowestSuccession, Bound::AtMost(20.0)),
            Goal::alone("blog-thread", Succession, Bound::AtMost(20.0)),
            Goal::alone("blog-thread", SlowestSuccession, Bound::AtMost(20.0)),
            Goal::alone("hello-thread", SlowestSuccession, Bound::AtMost(20.0)),
        ],
    },
];
