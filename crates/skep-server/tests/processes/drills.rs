//! Disasters under load, those of `skep drill`, with a fifth of the load: what the documentation promises
//! (`docs/guides/run/drill.md`) holds.

use skep_drill::{DRILLS, Report, Stage, Subject};

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
    ("drill_full_disk", || hold("full-disk")),
    ("drill_slow_disk", || hold("slow-disk")),
    ("drill_closed_pipe", || hold("closed-pipe")),
    ("drill_clock", || hold("clock")),
    ("drill_pipelined", || hold("pipelined")),
];

/// Of hostile clients those are here that could stop a thread, whose worker would be replaced. `tools/drill/tests` has
/// others.
const HOSTILE: usize = 1;

pub(crate) const NEED_FAKETIME: &[&str] = &["drill_clock"];

fn hold(name: &str) {
    let others = DRILLS.iter().filter(|drill| !drill.is_hostile()).count();
    assert_eq!(TESTS.len(), others + HOSTILE, "a drill has no test");
    let drill = DRILLS.iter().find(|drill| drill.name == name).unwrap();
    let (subject, mut report) = (Subject::ours().unwrap(), Report::aloud());
    let carried_out = drill.run(&Stage::new(&subject, true), &mut report);
    assert_eq!(report.broken(), "", "{carried_out:?}");
    assert!(report.findings().iter().any(|finding| !finding.expected.is_empty()), "it was not carried out");
    carried_out.unwrap();
}
