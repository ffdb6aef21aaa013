//! The programs that are measured: this executable, started with a word.

use std::io::Write;
use std::path::Path;

use figures::random::shuffled;

use crate::batch::{self, Cost, Written};
use crate::{Result, middle};

/// The first argument of such a process.
pub(crate) const WORD: &str = "measured-program";

pub(crate) const ALL: [&str; 2] = ["skep", "tracing-subscriber"];

/// Batches of each kind.
const BATCHES: usize = 9;

/// Measures one program, and prints a line for each figure.
pub(crate) fn run(program: &str, folder: &Path) -> Result<()> {
    let path = folder.join("log");
    if program == ALL[0] {
        let outputs = format!("log.outputs=file:{} layout=json", path.display());
        let arguments = ["--listen", "127.0.0.1:0", "--set", "log.access=false", "--set", "log.buffer=16MiB"];
        let server = skep_server::Server::new(skep::App::new).fix("data", folder.join("data").display().to_string());
        let running = server.arguments(arguments).arguments(["--set", &outputs]).start()?;
        let file = Written::warm_up(path, batch::CATEGORY)?;
        file.batch(batch::TRACING)?;
        measure(&[batch::CATEGORY, batch::TRACING], |name| file.batch(name))?;
        measure(&[batch::LOOP, batch::SUPPRESSED, batch::SUPPRESSED_TRACING], |name| Ok(batch::silent(name)))?;
        running.stop();
        return Ok(());
    }
    let (writer, _guard) = tracing_appender::non_blocking(tracing_appender::rolling::never(folder, "log"));
    tracing_subscriber::fmt().json().with_writer(writer).init();
    let file = Written::warm_up(path, batch::SUBSCRIBER)?;
    measure(&[batch::SUBSCRIBER], |name| file.batch(name))
}

fn measure(names: &[&str], batch: impl Fn(&str) -> Result<Cost>) -> Result<()> {
    let mut costs = vec![Vec::new(); names.len()];
    let mut random = fastrand::Rng::new();
    for _ in 0..BATCHES {
        for place in shuffled(&mut random, names.len()) {
            costs[place].push(batch(names[place])?);
        }
    }
    let mut output = std::io::stdout().lock();
    for (name, costs) in names.iter().zip(&costs) {
        let Some(cost) = middle(costs) else { continue };
        writeln!(output, "{}", cost.line(name))?;
    }
    Ok(())
}
