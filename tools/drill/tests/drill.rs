//! `skep drill`, as a person runs it. The drill of a component needs the executable `skep` in the same folder.

use std::process::Command;

const DRILL: &str = env!("CARGO_BIN_EXE_skep-drill");

/// Exit code, and all that was said.
fn drill(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(DRILL).args(arguments).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

#[test]
fn a_drill_says_what_was_expected_and_what_was() {
    let (code, text) = drill(&["broken", "--quick"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("\nbroken: threads\n") && text.contains("\nbroken: processes\n"), "{text}");
    assert!(text.contains("it is not complete"), "{text}");
    let lost =
        |line: &&str| line.contains("requests cut") && line.contains("held") && line.ends_with(" 0 (expected: 0)");
    assert_eq!(text.lines().filter(lost).count(), 2, "{text}");
    assert!(text.lines().last().unwrap().starts_with("all held: "), "{text}");
}

#[test]
fn hostile_clients_come_alone_or_together() {
    let (code, text) = drill(&["reset", "form-rows", "--quick"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("reset: connections closed") && text.contains("form-rows: requests"), "{text}");
    let (code, text) = drill(&["reset", "offload", "--quick", "--together", "3s"]);
    assert!(matches!(code, Some(0 | 1)), "{text}");
    assert!(text.contains("\ntogether: threads, 3s\n"), "{text}");
    for promise in
        ["reset: streams", "offload: requests", "offload: lost by a neighbour", "requests cut", "MiB afterwards"]
    {
        assert!(text.contains(promise), "{promise}: {text}");
    }
}

/// The bounds of CPU time are those of optimised builds, and are shown here only.
#[test]
fn floods_of_frames_and_slow_clients_cost_memory_within_bounds_and_nobody_a_request() {
    let half = |names: &'static [&'static str]| std::thread::spawn(move || drill(&[names, &["--quick"]].concat()));
    let halves = [
        half(&["rapid-reset", "continuation", "settings", "slow-clients"]),
        half(&["pings", "empty-data", "tiny-windows", "pipelined"]),
    ];
    for half in halves {
        let (code, text) = half.join().unwrap();
        assert_eq!(code, Some(0), "{text}");
        for shown in ["seconds of CPU", "MiB more than before", "p99 of a normal client"] {
            assert!(text.contains(shown), "{shown}: {text}");
        }
    }
}

/// The executable of somebody else is this one, as the application that it can be.
#[test]
fn an_executable_of_ones_own_is_drilled() {
    let (code, text) =
        drill(&[DRILL, "broken", "kill-supervisor", "--quick", "--path", "/count", "--", "drill-application"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains("never ready"), "only ours can be that: {text}");
}

#[test]
fn a_component_is_drilled() {
    let (code, text) = drill(&["--component", "trap", "loop", "broken", "--quick"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("guilty requests, answered with 504"), "{text}");
}

#[test]
fn what_cannot_be_drilled_is_said() {
    let (code, text) = drill(&["/bin/true", "swap", "--quick"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("swap could not be carried out: ") && text.contains(" did not start: "), "{text}");
    let (code, text) = drill(&["crush"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.starts_with("skep drill: no drill is called \"crush\"; did you mean \"crash\"?"), "{text}");
}

#[test]
fn its_help_names_all_drills() {
    let (code, text) = drill(&["--help"]);
    assert_eq!(code, Some(0), "{text}");
    let named = |drill: &skep_drill::Drill| text.contains(&format!("\n  {:<16} {}", drill.name, drill.about));
    assert!(skep_drill::DRILLS.iter().chain(skep_drill::COMPONENT_DRILLS).all(named), "{text}");
}
