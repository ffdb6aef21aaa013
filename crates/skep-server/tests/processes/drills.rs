//! Disasters under load, those of `skep drill`, with a fifth of the load: what the documentation promises (`docs/guides/drill.md`) holds.

use skep_drill::{DRILLS, Finding, Report, Stage, Subject};

use super::Test;

pub(crate) const TESTS: &[Test] = &[
    ("drill_crash", || hold("crash")),
    ("drill_kill", || hold("kill")),
    ("drill_kill_supervisor", || hold("kill-supervisor")),
    ("drill_swap", || hold("swap")),
    ("drill_broken", || hold("broken")),
    ("drill_leak", || hold("leak")),
    ("drill_hang", || hold("hang")),
    ("drill_flood", || hold("flood")),
    ("drill_restart", || hold("restart")),
    ("drill_small_parts", || hold("small-parts")),
    ("drill_zero_windows", || hold("zero-windows")),
    ("drill_slow_bodies", || hold("slow-bodies")),
    ("drill_reset", || hold("reset")),
    ("drill_form_rows", || hold("form-rows")),
    ("drill_offload", || hold("offload")),
    ("drill_sessions", || hold("sessions")),
    ("drill_tokens", || hold("tokens")),
    ("drill_idle_prefork", || hold("idle-prefork")),
    ("drill_one_address", || hold("one-address")),
    ("drill_cache_keys", || hold("cache-keys")),
    ("drill_log", || hold("log")),
];

/// What does not hold yet: a drill, and how what it looks at begins. `skep drill` reports these as broken, and docs/security.md names them.
const OPEN: &[(&str, &str)] = &[
    ("zero-windows", "MiB more than before"),
    ("zero-windows", "MiB afterwards"),
    ("small-parts", "MiB more than before"),
    ("small-parts", "MiB afterwards"),
    ("slow-bodies", "MiB more than before"),
    ("slow-bodies", "log lines a second"),
    ("offload", "MiB afterwards"),
    ("sessions", "sessions: lost by a neighbour"),
    ("tokens", "tokens: lost by a neighbour"),
    ("tokens", "log lines a second"),
    ("log", "log lines a second"),
];

fn hold(name: &str) {
    assert_eq!(TESTS.len(), DRILLS.len(), "a drill has no test");
    let drill = DRILLS.iter().find(|drill| drill.name == name).unwrap();
    let (subject, mut report) = (Subject::ours().unwrap(), Report::aloud());
    let carried_out = drill.run(&Stage::new(&subject, true), &mut report);
    let is_open = |finding: &&Finding| OPEN.contains(&(name, finding.what.as_str()));
    let broken: Vec<_> = report.findings().iter().filter(|finding| !finding.held && !is_open(finding)).collect();
    assert!(broken.is_empty(), "{broken:?} {carried_out:?}");
    carried_out.unwrap();
}
