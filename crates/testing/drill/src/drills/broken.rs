//! Swaps to files that are no version.

use super::{Model, PROCESSES, Stage, THREADS};
use crate::error::Result;
use crate::load::Load;
use crate::report::Report;
use crate::server::{Server, folder};
use crate::subject::{Subject, deploy_bytes};

pub(super) fn run(stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    for model in [THREADS, PROCESSES] {
        report.case("broken", model.name);
        broken_files(stage, report, model)?;
    }
    Ok(())
}

/// What is put where the version was.
#[derive(Clone, Copy)]
enum File {
    Truncated,
    Foreign,
    Text,
    /// A version of ours that fails in the way that its name says.
    Ours(&'static str),
}

const FILES: [(&str, File); 5] = [
    ("a file that is cut short", File::Truncated),
    ("a file for another processor", File::Foreign),
    ("a file that is a text", File::Text),
    ("a version that dies at its start", File::Ours("dies")),
    ("a version that is never ready", File::Ours("waits")),
];

fn broken_files(stage: &Stage<'_>, report: &mut Report, model: Model) -> Result<()> {
    let ours = stage.subject.is_ours();
    let folder = folder()?;
    stage.subject.deploy(&folder, "good")?;
    let arguments = [model.arguments, &["--set", "start_timeout=4s"][..if ours { 2 } else { 0 }]].concat();
    let server = Server::start_in(stage.subject, folder, &arguments)?;
    let before = server.status("version")?;
    let mut load = Load { remember: ours, ..stage.load(&server) };
    if ours {
        load.path = "/version".into();
    }
    let running = load.start();
    for (name, file) in FILES.iter().filter(|(_, file)| ours || !matches!(file, File::Ours(_))) {
        put(stage.subject, &server, *file)?;
        let (taken, text) = server.control("swap")?;
        report.expect(name, "not swapped", text.trim(), !taken);
        running.go_on_for(100 * stage.scale)?;
    }
    let tally = running.stop();
    report.nothing_lost(&tally);
    let after = server.status("version")?;
    report.expect("version that serves", &before, &after, before == after);
    if ours {
        let others = tally.seen().iter().flatten().filter(|version| *version != "good").count();
        report.expect("answers of another version", 0, others, others == 0);
    }
    Ok(())
}

fn put(subject: &Subject, server: &Server, file: File) -> Result<()> {
    let app = server.folder.join("app");
    let mut bytes = subject.bytes("broken")?;
    match file {
        File::Truncated => bytes.truncate(bytes.len() / 3),
        // The machine, in the header of an ELF file.
        File::Foreign => bytes.iter_mut().skip(18).take(1).for_each(|byte| *byte ^= 0xff),
        File::Text => bytes = b"#!/bin/sh\nexit 0\n".repeat(20),
        File::Ours(version) => return subject.deploy(&server.folder, version),
    }
    deploy_bytes(&app, &bytes)
}
