//! What is measured: the experiments, who takes part in each, and what Skep must reach there.
//!
//! A table, and the choice of its rows. The first variant of an experiment is the one that the others stand beside; it
//! runs a second time as the control. Where the work of two variants differs, README.md says so.

use std::time::Duration;

use crate::Result;
use crate::goal::{Bound, Goal};
use crate::measure::Measure::{Cpu, Memory, OneMore, Rate, SlowestSuccession, Start, Succession, Supervisor};
use crate::program::{App, Model, Program};

/// A question, and how it is put.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Experiment {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) loads: &'static [Load],
    pub(crate) variants: &'static [Variant],
    pub(crate) same: Same,
    pub(crate) goals: &'static [Goal],
}

/// One of those that are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) program: Program,
    pub(crate) path: &'static str,
}

/// How a variant is put to work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Load {
    /// Each connection asks again when it is answered.
    KeepAlive { connections: u16 },
    /// Each connection sends this many requests at once, and again when all are answered. Not with wrk, whose core
    /// would be full first: it parses each answer, and reads a large one in pieces of 8 KiB.
    Batches { connections: u16, depth: u16 },
    /// The same as `KeepAlive`, for what stays in memory after it; each time a new process, alone.
    Memory { connections: u16 },
    /// Each request over a connection of its own, which the server closes.
    New { connections: u16 },
    /// The same, for what the supervisor and one more process hold after it; each time new processes, alone.
    Processes { connections: u16 },
    /// Processes that serve are killed, one after the other; each time new ones.
    Deaths { whose: Whose },
    /// Started again each time, until the first answer.
    Start,
    /// Nobody asks: the program works alone, beside servers that are asked with so many connections.
    Loop,
}

/// Whose death it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Whose {
    /// That of a process which serves.
    Worker,
    /// That of the process which the supervisor has started: with `prefork` the one that forks.
    Parent,
}

/// How far answers must be the same before they are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Same {
    Text(&'static str),
    /// So many of them.
    Bytes(usize),
    /// A page that has this piece so many times; the rest may differ.
    Times(usize, &'static str),
    /// Not compared.
    Free,
}

const fn variant(name: &'static str, program: Program, path: &'static str) -> Variant {
    Variant { name, program, path }
}

const HELLO: &[Variant] = &[
    variant("skep", Program::SkepHello { log: false }, "/"),
    variant("skep+log", Program::SkepHello { log: true }, "/"),
    variant("hyper", Program::Hyper, "/"),
    variant("axum", Program::Axum, "/"),
    variant("actix", Program::Actix, "/"),
    variant("nginx", Program::Nginx { tuned: false }, "/"),
    variant("epoll", Program::Epoll, "/"),
];

const fn files(path: &'static str) -> [Variant; 5] {
    [
        variant("skep", Program::SkepStatic, path),
        variant("nginx", Program::Nginx { tuned: false }, path),
        variant("nginx-tuned", Program::Nginx { tuned: true }, path),
        variant("lighttpd", Program::Lighttpd { tuned: false }, path),
        variant("lighttpd-tuned", Program::Lighttpd { tuned: true }, path),
    ]
}

const FILES_GOALS: &[Goal] = &[
    Goal::at_least("skep", Rate, 1.0, "nginx"),
    Goal::at_least("skep", Rate, 1.0, "nginx-tuned"),
    Goal::at_least("skep", Rate, 1.0, "lighttpd"),
    Goal::at_least("skep", Rate, 1.0, "lighttpd-tuned"),
];

const KEEP_ALIVE: &[Load] = &[Load::KeepAlive { connections: 32 }];

const NEW: &[Load] = &[Load::New { connections: 32 }];

const THREAD: Model = Model::Thread;

const fn prefork(requests_per_worker: u32) -> Model {
    Model::Prefork { requests_per_worker }
}

const fn skep(app: App, model: Model) -> Program {
    Program::SkepProcesses { app, model }
}

/// All of them, in the order in which they run.
pub(crate) const ALL: &[Experiment] = &[
    Experiment {
        name: "hello",
        about: "13 bytes, keep-alive: what a request costs at the least",
        loads: &[Load::KeepAlive { connections: 32 }, Load::KeepAlive { connections: 256 }],
        variants: HELLO,
        same: Same::Text("Hello, world!"),
        goals: &[
            Goal::at_most("skep", Cpu, 1.04, "hyper"),
            Goal::at_most("skep", Cpu, 1.0, "axum"),
            Goal::at_most("skep", Cpu, 1.0, "actix"),
            Goal::at_most("skep", Cpu, 1.0, "nginx"),
            Goal::at_most("skep", Cpu, 1.12, "epoll"),
        ],
    },
    Experiment {
        name: "pipelined",
        about: "the same, 16 requests in one write",
        loads: &[Load::Batches { connections: 32, depth: 16 }],
        variants: HELLO,
        same: Same::Text("Hello, world!"),
        goals: &[
            Goal::at_least("skep", Rate, 8.0, "axum"),
            Goal::at_least("skep", Rate, 8.0, "nginx"),
            Goal::at_least("skep", Rate, 1.4, "actix"),
        ],
    },
    Experiment {
        name: "memory",
        about: "what all processes hold after the load of hello",
        loads: &[Load::Memory { connections: 256 }],
        variants: HELLO,
        same: Same::Text("Hello, world!"),
        goals: &[Goal::alone("skep", Memory, Bound::AtMost(3.0))],
    },
    Experiment {
        name: "static-13",
        about: "a file of 13 bytes",
        loads: KEEP_ALIVE,
        variants: &files("/13.txt"),
        same: Same::Text("Hello, world!"),
        goals: FILES_GOALS,
    },
    Experiment {
        name: "static-1m",
        about: "a file of 1 MiB",
        loads: &[Load::Batches { connections: 32, depth: 1 }],
        variants: &files("/1m.bin"),
        same: Same::Bytes(1 << 20),
        goals: FILES_GOALS,
    },
    Experiment {
        name: "list",
        about: "the blog's first page: 20 rows and a count from SQLite, rendered; nothing cached but in skep-cached",
        loads: KEEP_ALIVE,
        variants: &[
            variant("skep", Program::SkepBlog { cached: false }, "/"),
            variant("skep-cached", Program::SkepBlog { cached: true }, "/"),
            variant("axum", Program::AxumBlog { tuned: false }, "/"),
            variant("axum-tuned", Program::AxumBlog { tuned: true }, "/"),
        ],
        same: Same::Times(articles::PER_PAGE, "<article"),
        goals: &[Goal::at_least("skep", Rate, 2.5, "axum"), Goal::at_least("skep", Rate, 2.5, "axum-tuned")],
    },
    Experiment {
        name: "split",
        about: "where the time of a list page goes: the page without its rows' query, without its rendering, and without both",
        loads: KEEP_ALIVE,
        variants: &[
            variant("axum-tuned", Program::AxumBlog { tuned: true }, "/"),
            variant("axum-tuned-sql", Program::AxumBlog { tuned: true }, "/sql"),
            variant("axum-tuned-html", Program::AxumBlog { tuned: true }, "/html"),
            variant("axum-tuned-http", Program::AxumBlog { tuned: true }, "/http"),
        ],
        same: Same::Free,
        goals: &[],
    },
    Experiment {
        name: "markdown",
        about: "an article from 5 KB of Markdown; nothing cached but in skep-cached",
        loads: &[Load::Loop],
        variants: &[
            variant("skep", Program::SkepBlog { cached: false }, "/writings/second-number"),
            variant("skep-cached", Program::SkepBlog { cached: true }, "/writings/second-number"),
            variant("pulldown-cmark", Program::Markdown, ""),
        ],
        same: Same::Times(1, "Measure the weather"),
        goals: &[Goal::alone("skep", Rate, Bound::AtLeast(25_000.0))],
    },
    Experiment {
        name: "processes-hello",
        about: "13 bytes, keep-alive: what a process of one thread costs that is one of several, beside a thread",
        loads: KEEP_ALIVE,
        variants: &[
            variant("thread", skep(App::Hello, THREAD), "/"),
            variant("prefork", skep(App::Hello, prefork(0)), "/"),
        ],
        same: Same::Text("Hello, world!"),
        goals: &[Goal::at_least("prefork", Rate, 0.97, "thread")],
    },
    Experiment {
        name: "processes-new",
        about: "13 bytes, a new connection for each request: what fork, first touch and exit cost",
        loads: NEW,
        variants: &[
            variant("thread", skep(App::Hello, THREAD), "/"),
            variant("prefork", skep(App::Hello, prefork(0)), "/"),
            variant("prefork-1", skep(App::Hello, prefork(1)), "/"),
            variant("heap-thread", skep(App::Heap, THREAD), "/"),
            variant("heap-prefork-1", skep(App::Heap, prefork(1)), "/"),
            variant("apache", Program::Apache { per_child: 0 }, "/hello.php"),
            variant("apache-1", Program::Apache { per_child: 1 }, "/hello.php"),
        ],
        same: Same::Text("Hello, world!"),
        goals: &[
            Goal::at_most_more("prefork-1", Cpu, 120.0, "thread"),
            Goal::at_most_more("heap-prefork-1", Cpu, 160.0, "heap-thread"),
        ],
    },
    Experiment {
        name: "processes-blog",
        about: "the blog's first page, a new connection for each request; nothing is cached",
        loads: NEW,
        variants: &[
            variant("thread", skep(App::Blog, THREAD), "/"),
            variant("prefork-100", skep(App::Blog, prefork(100)), "/"),
            variant("prefork-1", skep(App::Blog, prefork(1)), "/"),
            variant("apache", Program::Apache { per_child: 0 }, "/list.php"),
            variant("apache-1", Program::Apache { per_child: 1 }, "/list.php"),
        ],
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
            variant("blog-prefork", skep(App::Blog, prefork(0)), "/"),
            variant("blog-thread", skep(App::Blog, THREAD), "/"),
            variant("hello-prefork", skep(App::Hello, prefork(0)), "/"),
            variant("hello-thread", skep(App::Hello, THREAD), "/"),
        ],
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
            variant("blog-prefork", skep(App::Blog, prefork(0)), "/"),
            variant("blog-thread", skep(App::Blog, THREAD), "/"),
            variant("hello-prefork", skep(App::Hello, prefork(0)), "/"),
            variant("hello-thread", skep(App::Hello, THREAD), "/"),
        ],
        same: Same::Free,
        goals: &[
            Goal::alone("blog-prefork", Succession, Bound::AtMost(20.0)),
            Goal::alone("blog-prefork", SlowestSuccession, Bound::AtMost(20.0)),
            Goal::alone("blog-thread", Succession, Bound::AtMost(20.0)),
            Goal::alone("blog-thread", SlowestSuccession, Bound::AtMost(20.0)),
            Goal::alone("hello-thread", SlowestSuccession, Bound::AtMost(20.0)),
        ],
    },
    Experiment {
        name: "start",
        about: "from spawn to the first answer, on an existing database where there is one",
        loads: &[Load::Start],
        variants: &[
            variant("skep", Program::SkepBlog { cached: true }, "/"),
            variant("skep-hello", Program::SkepHello { log: false }, "/"),
            variant("axum-blog", Program::AxumBlog { tuned: false }, "/"),
            variant("hyper", Program::Hyper, "/"),
            variant("axum", Program::Axum, "/"),
            variant("actix", Program::Actix, "/"),
            variant("nginx", Program::Nginx { tuned: false }, "/"),
            variant("lighttpd", Program::Lighttpd { tuned: false }, "/13.txt"),
        ],
        same: Same::Free,
        goals: &[Goal::alone("skep", Start, Bound::AtMost(30.0))],
    },
];

/// An experiment, with those of its variants that were asked for.
pub(crate) struct Planned {
    pub(crate) experiment: Experiment,
    pub(crate) variants: Vec<Variant>,
}

/// What to run: the experiments of these names, or whose names begin with these and a hyphen, with the variants of these names; of none means of all.
pub(crate) fn plan(experiments: &[String], only: &[String]) -> Result<Vec<Planned>> {
    let known: Vec<&str> = ALL.iter().map(|experiment| experiment.name).collect();
    let groups = known.iter().filter_map(|name| name.split_once('-')).map(|(group, _)| group);
    known_or_named(experiments, &known.iter().copied().chain(groups).collect::<Vec<_>>(), "experiment")?;
    let variants: Vec<&str> =
        ALL.iter().flat_map(|experiment| experiment.variants).map(|variant| variant.name).collect();
    known_or_named(only, &variants, "variant")?;
    let chosen = ALL.iter().filter(|experiment| asked_group(experiments, experiment.name));
    let planned = chosen.map(|experiment| Planned {
        experiment: *experiment,
        variants: experiment.variants.iter().filter(|variant| asked(only, variant.name)).copied().collect(),
    });
    let planned: Vec<Planned> = planned.filter(|planned| !planned.variants.is_empty()).collect();
    if planned.is_empty() { Err("none of these variants takes part in these experiments".into()) } else { Ok(planned) }
}

fn asked(names: &[String], name: &str) -> bool {
    names.is_empty() || names.iter().any(|asked| asked == name)
}

/// `static` asks for `static-13` and `static-1m`.
fn asked_group(names: &[String], name: &str) -> bool {
    asked(names, name) || name.split_once('-').is_some_and(|(group, _)| asked(names, group))
}

fn known_or_named(names: &[String], known: &[&str], kind: &str) -> Result<()> {
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        Some(unknown) => Err(format!("there is no {kind} {unknown:?} (--list shows them)").into()),
        None => Ok(()),
    }
}

impl Load {
    /// Whether every figure comes from a new process, which runs alone.
    pub(crate) fn starts_anew(self) -> bool {
        matches!(self, Self::Start | Self::Memory { .. } | Self::Processes { .. } | Self::Deaths { .. })
    }

    /// For a heading.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::KeepAlive { connections } | Self::Memory { connections } => format!("{connections} connections"),
            Self::Batches { connections, depth } => format!("{connections} connections, {depth} at once"),
            Self::New { connections } => format!("{connections} new connections at a time"),
            Self::Processes { connections } => format!("after {connections} new connections at a time"),
            Self::Deaths { whose } => format!("death of {}", whose.name()),
            Self::Start => "one after the other".into(),
            Self::Loop => "servers with 32 connections".into(),
        }
    }
}

impl Whose {
    /// For a heading.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Worker => "the process that serves",
            Self::Parent => "the process that the supervisor has started",
        }
    }
}

/// How long each variant works before it is measured.
pub(crate) const WARM_UP: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::Beside;

    #[test]
    fn a_goal_names_variants_that_take_part() {
        for experiment in ALL {
            for goal in experiment.goals {
                let takes_part = |name: &str| experiment.variants.iter().any(|variant| variant.name == name);
                let beside = match goal.beside {
                    Beside::Nothing => true,
                    Beside::Times(variant) | Beside::OnTopOf(variant) => takes_part(variant),
                };
                assert!(takes_part(goal.variant) && beside, "{}", goal.describe());
            }
        }
    }

    #[test]
    fn no_two_variants_of_an_experiment_share_a_name() {
        for experiment in ALL {
            let mut names: Vec<_> = experiment.variants.iter().map(|variant| variant.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), experiment.variants.len(), "{}", experiment.name);
        }
    }

    #[test]
    fn nothing_named_is_all_and_a_wrong_name_is_an_error() {
        assert_eq!(plan(&[], &[]).unwrap().len(), ALL.len());
        let planned = plan(&["hello".into()], &["epoll".into(), "skep".into()]).unwrap();
        let names: Vec<_> = planned[0].variants.iter().map(|variant| variant.name).collect();
        assert_eq!(names, ["skep", "epoll"]);
        let group: Vec<_> =
            plan(&["static".into()], &[]).unwrap().iter().map(|planned| planned.experiment.name).collect();
        assert_eq!(group, ["static-13", "static-1m"]);
        let error = plan(&["helo".into()], &[]).err().unwrap().to_string();
        assert_eq!(error, "there is no experiment \"helo\" (--list shows them)");
        assert!(plan(&["markdown".into()], &["epoll".into()]).is_err());
    }
}
