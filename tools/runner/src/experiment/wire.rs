//! What requests and connections cost: new connections, chunks, TLS, HTTP/2, and connections that are idle.

use super::{Experiment, HELLO, KILOBYTE, Load, Request, Same, Variant, variant};
use crate::goal::{Bound, Goal};
use crate::measure::Measure::{Cpu, PerConnection};
use crate::program::{Nginx, Program, Tasks};

const TLS: &[Load] = &[Load::Tls { connections: 32 }];

const STREAMS: &[Load] = &[Load::Streams { connections: 1, streams: 100 }];

const HELLO_WORLD: Same = Same::Text("Hello, world!");

const MEBIBYTE: Same = Same::Bytes(1 << 20);

/// Those that speak TLS, by the path that Skep has for it and the path of the others.
const fn encrypted(skep: &'static str, path: &'static str) -> [Variant; 4] {
    [
        variant("skep", Program::SkepTasks(Tasks { routes: 2, tls: true }), skep),
        variant("nginx-tuned", Program::Nginx(Nginx::Tls), path),
        variant("hyper", Program::HyperTls, path),
        variant("go", Program::GoHttp { tls: true }, path),
    ]
}

const ENCRYPTED_GOALS: &[Goal] = &[
    Goal::at_most("skep", Cpu, 1.0, "nginx-tuned"),
    Goal::at_most("skep", Cpu, 1.0, "hyper"),
    Goal::at_most("skep", Cpu, 1.0, "go"),
];

/// All of them, in the order in which they run.
pub(super) const ALL: &[Experiment] = &[
    Experiment {
        name: "fresh",
        about: "13 bytes, a new connection for each request",
        loads: &[Load::Fresh { connections: 32 }],
        variants: HELLO,
        absent: &[],
        same: HELLO_WORLD,
        goals: &[
            Goal::at_most("skep", Cpu, 1.03, "hyper"),
            Goal::at_most("skep", Cpu, 1.03, "axum"),
            Goal::at_most("skep", Cpu, 1.03, "actix"),
            Goal::at_most("skep", Cpu, 1.03, "nginx"),
            Goal::at_most("skep", Cpu, 1.03, "epoll"),
        ],
    },
    Experiment {
        name: "chunked",
        about: "1 KB, posted in four chunks, comes back; keep-alive",
        loads: &[Load::Requests { connections: 32, request: Request::Chunked }],
        variants: &[
            variant("skep", Program::SkepTasks(Tasks { routes: 2, tls: false }), "/echo"),
            variant("hyper", Program::Hyper, "/echo"),
            variant("axum", Program::AxumTasks { routes: 2 }, "/echo"),
            variant("go", Program::GoHttp { tls: false }, "/echo"),
        ],
        absent: &[],
        same: Same::Text(KILOBYTE),
        goals: &[
            Goal::at_most("skep", Cpu, 1.0, "hyper"),
            Goal::at_most("skep", Cpu, 1.0, "axum"),
            Goal::at_most("skep", Cpu, 1.0, "go"),
        ],
    },
    Experiment {
        name: "tls-hello",
        about: "13 bytes, keep-alive, over TLS 1.3",
        loads: TLS,
        variants: &encrypted("/", "/"),
        absent: &[],
        same: HELLO_WORLD,
        goals: ENCRYPTED_GOALS,
    },
    Experiment {
        name: "tls-1m",
        about: "a file of 1 MiB over TLS 1.3",
        loads: TLS,
        variants: &encrypted("/files/1m.bin", "/1m.bin"),
        absent: &[],
        same: MEBIBYTE,
        goals: ENCRYPTED_GOALS,
    },
    Experiment {
        name: "h2-hello",
        about: "13 bytes over HTTP/2 and TLS 1.3",
        loads: STREAMS,
        variants: &encrypted("/", "/"),
        absent: &[],
        same: HELLO_WORLD,
        goals: ENCRYPTED_GOALS,
    },
    Experiment {
        name: "h2-1m",
        about: "a file of 1 MiB over HTTP/2 and TLS 1.3",
        loads: STREAMS,
        variants: &encrypted("/files/1m.bin", "/1m.bin"),
        absent: &[],
        same: MEBIBYTE,
        goals: ENCRYPTED_GOALS,
    },
    Experiment {
        name: "idle",
        about: "what a process holds for a connection that had its response and waits",
        loads: &[Load::Idle { connections: 10_000 }],
        variants: &[
            variant("skep", Program::SkepIdle, "/"),
            variant("hyper", Program::Hyper, "/"),
            variant("nginx", Program::Nginx(Nginx::Idle), "/"),
        ],
        absent: &[],
        same: HELLO_WORLD,
        goals: &[Goal::alone("skep", PerConnection, Bound::AtMost(2.0))],
    },
];
