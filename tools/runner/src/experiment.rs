//! What is measured: the experiments, who takes part in each, and what Skep must reach there.
//!
//! A table, and the choice of its rows. The first variant of an experiment is the one that the others stand beside; it
//! runs a second time as the control. Where the work of two variants differs, README.md says so.

use std::time::Duration;

use crate::Result;
use crate::goal::{Bound, Goal};
use crate::measure::Measure::{Cpu, Memory, Rate, Start};
use crate::program::{Nginx, Program};

mod data;
mod isolate;
mod observed;
mod posts;
mod processes;
mod request;
mod tasks;
mod wire;

pub(crate) use request::{KILOBYTE, Request};

/// A question, and how it is put.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Experiment {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) loads: &'static [Load],
    pub(crate) variants: &'static [Variant],
    /// Who would belong here and cannot be had.
    pub(crate) absent: &'static [Absent],
    pub(crate) same: Same,
    pub(crate) goals: &'static [Goal],
}

/// Somebody who takes no part, on no machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Absent {
    pub(crate) name: &'static str,
    pub(crate) why: &'static str,
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
    /// Each request has a connection of its own; this number is open at a time.
    Fresh { connections: u16 },
    /// Each connection has this many requests under way, all the time.
    Batches { connections: u16, depth: u16 },
    /// The same as `KeepAlive`, with more than a path in each request.
    Requests { connections: u16, request: Request },
    /// The same as `KeepAlive`, over TLS.
    Tls { connections: u16 },
    /// HTTP/2 over TLS: each connection has this many streams under way, all the time.
    Streams { connections: u16, streams: u16 },
    /// Connections that had one response each, and keep silent: what one of them holds; a new process each time, alone.
    Idle { connections: u16 },
    /// The same as `KeepAlive`, for what stays in memory after it; each time a new process, alone.
    Memory { connections: u16 },
    /// The same as `Fresh`, for what the supervisor and one more process hold after it; each time new processes, alone.
    Processes { connections: u16 },
    /// Requests whose bodies do not come: for what an instance in flight holds.
    Held { requests: u16 },
    /// The file of the component is replaced; until the new response.
    Swaps { new: New },
    /// Processes that serve are killed, one after the other; each time new ones.
    Deaths { whose: Whose },
    /// Started again each time, until the first answer.
    Start,
    /// Nobody asks: the program works alone, compared with servers under a load of this number of connections.
    Loop,
    /// Nobody asks, and there are no servers.
    Alone,
}

/// What a new file of a component has that the one before had not.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum New {
    /// Another text: its code has been compiled before.
    Text,
    /// Other code, too, which nobody has compiled.
    Code,
    /// Another text; it is what `skep compile` has made of it.
    Compiled,
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
    /// This number of them.
    Bytes(usize),
    /// A page that has this piece this number of times; the rest may differ.
    Times(usize, &'static str),
    /// A page with each piece this number of times, tags and texts one to a line; the rest is as in the first variant.
    Page(&'static [(usize, &'static str)]),
    /// This number of rows with a number, as JSON. What is `written` the database must have afterwards.
    Rows {
        count: usize,
        written: bool,
    },
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
    variant("nginx", Program::Nginx(Nginx::Plain), "/"),
    variant("epoll", Program::Epoll, "/"),
];

const fn files(path: &'static str) -> [Variant; 5] {
    [
        variant("skep", Program::SkepStatic, path),
        variant("nginx", Program::Nginx(Nginx::Plain), path),
        variant("nginx-tuned", Program::Nginx(Nginx::Tuned), path),
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

/// Skep beside today's peers, in the order in which they run.
const TODAY: &[Experiment] = &[
    Experiment {
        name: "hello",
        about: "13 bytes, keep-alive: what a request costs at the least",
        loads: &[Load::KeepAlive { connections: 32 }, Load::KeepAlive { connections: 256 }],
        variants: HELLO,
        absent: &[],
        same: Same::Text("Hello, world!"),
        goals: &[
            Goal::at_most("skep", Cpu, 0.97, "hyper"),
            Goal::at_most("skep", Cpu, 1.0, "axum"),
            Goal::at_most("skep", Cpu, 1.0, "actix"),
            Goal::at_most("skep", Cpu, 1.0, "nginx"),
            Goal::at_most("skep", Cpu, 1.1, "epoll"),
        ],
    },
    Experiment {
        name: "pipelined",
        about: "the same, 16 requests in one write",
        loads: &[Load::Batches { connections: 32, depth: 16 }],
        variants: HELLO,
        absent: &[],
        same: Same::Text("Hello, world!"),
        goals: &[
            Goal::at_least("skep", Rate, 1.0, "hyper"),
            Goal::at_least("skep", Rate, 1.0, "actix"),
            Goal::at_least("skep", Rate, 5.0, "axum"),
            Goal::at_least("skep", Rate, 5.0, "nginx"),
        ],
    },
    Experiment {
        name: "memory",
        about: "what all processes hold after the load of hello",
        loads: &[Load::Memory { connections: 256 }],
        variants: HELLO,
        absent: &[],
        same: Same::Text("Hello, world!"),
        goals: &[Goal::alone("skep", Memory, Bound::AtMost(3.0))],
    },
    Experiment {
        name: "static-13",
        about: "a file of 13 bytes",
        loads: KEEP_ALIVE,
        variants: &files("/13.txt"),
        absent: &[],
        same: Same::Text("Hello, world!"),
        goals: FILES_GOALS,
    },
    Experiment {
        name: "static-1m",
        about: "a file of 1 MiB",
        loads: &[Load::Batches { connections: 32, depth: 1 }],
        variants: &files("/1m.bin"),
        absent: &[],
        same: Same::Bytes(1 << 20),
        goals: FILES_GOALS,
    },
    Experiment {
        name: "static-100m",
        about: "a file of 100 MiB",
        loads: &[Load::KeepAlive { connections: 4 }],
        variants: &files("/100m.bin"),
        absent: &[],
        same: Same::Bytes(100 << 20),
        // The load has to copy each byte and the server has not, so requests/s would be the load's.
        goals: &[
            Goal::at_most("skep", Cpu, 1.05, "nginx"),
            Goal::at_most("skep", Cpu, 1.05, "nginx-tuned"),
            Goal::at_most("skep", Cpu, 1.05, "lighttpd"),
            Goal::at_most("skep", Cpu, 1.05, "lighttpd-tuned"),
        ],
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
        absent: &[],
        same: Same::Times(articles::PER_PAGE, "<article"),
        goals: &[Goal::at_least("skep", Rate, 2.6, "axum"), Goal::at_least("skep", Rate, 2.6, "axum-tuned")],
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
        absent: &[],
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
        absent: &[],
        same: Same::Times(1, "Measure the weather"),
        goals: &[Goal::at_least("skep", Rate, 0.5, "pulldown-cmark")],
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
            variant("nginx", Program::Nginx(Nginx::Plain), "/"),
            variant("lighttpd", Program::Lighttpd { tuned: false }, "/13.txt"),
        ],
        absent: &[],
        same: Same::Free,
        goals: &[Goal::alone("skep", Start, Bound::AtMost(30.0))],
    },
];

/// Those that run when none is named.
fn today() -> impl Iterator<Item = &'static Experiment> {
    TODAY.iter().chain(wire::ALL).chain(tasks::ALL)
}

/// All of them, in the order in which they run.
pub(crate) fn all() -> impl Iterator<Item = &'static Experiment> {
    today().chain(data::ALL).chain(observed::ALL).chain(processes::ALL).chain(isolate::ALL).chain(posts::ALL)
}

/// The word for all of the posts' experiments.
pub(crate) const POSTS: &str = "posts";

/// An experiment, with those of its variants that were asked for.
pub(crate) struct Planned {
    pub(crate) experiment: Experiment,
    pub(crate) variants: Vec<Variant>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// Who was asked for and does not take part.
#[derive(Debug, Clone)]
pub(crate) struct LeftOut {
    pub(crate) name: String,
    pub(crate) why: String,
}

impl Planned {
    fn of(experiment: &Experiment, only: &[String]) -> Self {
        let absent = experiment.absent.iter().filter(|_| only.is_empty());
        Self {
            experiment: *experiment,
            variants: experiment.variants.iter().filter(|variant| asked(only, variant.name)).copied().collect(),
            left_out: absent.map(|absent| LeftOut { name: absent.name.into(), why: absent.why.into() }).collect(),
        }
    }
}

/// What to run: the experiments of these names with the variants of these names. No variant means all of them, no
/// experiment all of those beside today's peers. `processes` and `static` mean all whose names begin so, `posts` all of
/// the posts'.
pub(crate) fn plan(experiments: &[String], only: &[String]) -> Result<Vec<Planned>> {
    let unknown = experiments.iter().find(|name| !all().any(|experiment| is_meant(name, experiment.name)));
    if let Some(unknown) = unknown {
        return Err(format!("there is no experiment {unknown:?} (--list shows them)").into());
    }
    known_or_named(only)?;
    let chosen = all().filter(|experiment| match experiments {
        [] => today().any(|today| today.name == experiment.name),
        names => names.iter().any(|name| is_meant(name, experiment.name)),
    });
    let planned = chosen.map(|experiment| Planned::of(experiment, only));
    let planned: Vec<Planned> = planned.filter(|planned| !planned.variants.is_empty()).collect();
    if planned.is_empty() { Err("none of these variants takes part in these experiments".into()) } else { Ok(planned) }
}

fn asked(names: &[String], name: &str) -> bool {
    names.is_empty() || names.iter().any(|asked| asked == name)
}

/// Whether somebody who says `name` means this experiment, by its name or by the words at its beginning.
fn is_meant(name: &str, experiment: &str) -> bool {
    let begins = experiment.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'));
    name == experiment || begins || name == POSTS && experiment.starts_with("post-")
}

/// Whether a variant of any experiment has this name.
pub(crate) fn is_variant(name: &str) -> bool {
    all().flat_map(|experiment| experiment.variants).any(|variant| variant.name == name)
}

fn known_or_named(only: &[String]) -> Result<()> {
    match only.iter().find(|name| !is_variant(name)) {
        Some(unknown) => Err(format!("there is no variant {unknown:?} (--list shows them)").into()),
        None => Ok(()),
    }
}

impl Experiment {
    /// Whether this load of it never sleeps. That of the posts' experiments does, as in the records that their page was
    /// made from, and that of HTTP/2, which waits in a runtime.
    pub(crate) fn is_busy(&self, load: Load) -> bool {
        !self.name.starts_with("post-") && !matches!(load, Load::Streams { .. })
    }
}

impl New {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Text => "with another text",
            Self::Code => "with other code",
            Self::Compiled => "that are compiled already",
        }
    }
}

impl Load {
    /// Whether every figure comes from a new process, which runs alone.
    pub(crate) fn starts_new_servers(self) -> bool {
        matches!(
            self,
            Self::Start
                | Self::Idle { .. }
                | Self::Memory { .. }
                | Self::Processes { .. }
                | Self::Deaths { .. }
                | Self::Held { .. }
                | Self::Swaps { .. }
        )
    }

    /// For a heading.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::KeepAlive { connections } | Self::Memory { connections } => match connections {
                1 => "1 connection".into(),
                _ => format!("{connections} connections"),
            },
            Self::Fresh { connections } => format!("a connection for each request, {connections} at a time"),
            Self::Batches { connections, depth } => format!("{connections} connections, {depth} at once"),
            Self::Requests { connections, request } => {
                format!("{connections} connections, each request with {}", request.name())
            }
            Self::Tls { connections } => format!("{connections} connections over TLS"),
            Self::Streams { connections: 1, streams } => format!("a connection of HTTP/2 over TLS, {streams} streams"),
            Self::Streams { connections, streams } => {
                format!("{connections} connections of HTTP/2 over TLS, {streams} streams each")
            }
            Self::Idle { connections } => format!("{connections} connections that had a response each"),
            Self::Processes { connections } => format!("after a connection for each request, {connections} at a time"),
            Self::Held { requests } => format!("{requests} requests that wait"),
            Self::Swaps { new } => format!("new files {}, one after the other", new.name()),
            Self::Deaths { whose } => format!("death of {}", whose.name()),
            Self::Start => "one after the other".into(),
            Self::Loop => "servers with 32 connections".into(),
            Self::Alone => "alone".into(),
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
        for experiment in all() {
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
        for experiment in all() {
            let mut names: Vec<_> = experiment.variants.iter().map(|variant| variant.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), experiment.variants.len(), "{}", experiment.name);
        }
    }

    #[test]
    fn nothing_named_is_all_and_a_wrong_name_is_an_error() {
        assert_eq!(plan(&[], &[]).unwrap().len(), today().count());
        let planned = plan(&["hello".into()], &["epoll".into(), "skep".into()]).unwrap();
        let names: Vec<_> = planned[0].variants.iter().map(|variant| variant.name).collect();
        assert_eq!(names, ["skep", "epoll"]);
        let error = plan(&["helo".into()], &[]).err().unwrap().to_string();
        assert_eq!(error, "there is no experiment \"helo\" (--list shows them)");
        assert!(plan(&["markdown".into()], &["epoll".into()]).is_err());
    }

    #[test]
    fn a_group_is_asked_for_by_the_words_that_its_names_begin_with() {
        let names = |asked: &str| -> Vec<&str> {
            plan(&[asked.into()], &[]).unwrap().iter().map(|planned| planned.experiment.name).collect()
        };
        assert_eq!(names("posts").len(), posts::ALL.len());
        assert_eq!(names("post-treefrog"), ["post-treefrog-0", "post-treefrog-20"]);
        assert_eq!(names("post-dart"), ["post-dart"]);
        assert_eq!(names("static-13"), ["static-13"]);
        assert_eq!(names("static"), ["static-13", "static-1m", "static-100m"]);
        assert_eq!(names("h2"), ["h2-hello", "h2-1m"]);
        assert_eq!(names("processes").len(), processes::ALL.len());
        assert!(plan(&["stat".into()], &[]).is_err() && plan(&["post-tree".into()], &[]).is_err());
    }
}
