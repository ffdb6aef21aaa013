//! Whether the application compiles with what was written.

use std::io;
use std::process::ExitStatus;

use skep_sql_lock::Dialect;
use tokio::process::Command;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::package::Package;
use crate::{say, sql};

/// A check that can be interrupted. From its beginning, no signal ends this process, which has something to restore.
pub(super) struct Check {
    runtime: Runtime,
    signals: [Signal; 3],
}

impl Check {
    pub(super) fn begin() -> Result<Self, String> {
        let listen = || -> io::Result<Self> {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let inside = runtime.enter();
            let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
            let [interrupt, terminate, hangup] = kinds.map(signal);
            let signals = [interrupt?, terminate?, hangup?];
            drop(inside);
            Ok(Self { runtime, signals })
        };
        listen().map_err(|error| format!("the signals of this process: {error}"))
    }

    /// Compiles the package with its tests. On PostgreSQL, the statements are noted before.
    pub(super) fn run(self, package: &Package) -> Result<(), String> {
        if package.dialect == Dialect::Postgres {
            say(&format!("{}\n", sql::check_package(&package.root.join("Cargo.toml"))?.trim_end()));
        }
        match self.runtime.block_on(compile(package, self.signals)) {
            Ok(Some(status)) if status.success() => Ok(()),
            Ok(Some(_)) => Err("the application does not compile with it, for the reason above".to_owned()),
            Ok(None) => Err("interrupted".to_owned()),
            Err(error) => Err(format!("cargo: {error}")),
        }
    }
}

/// How cargo ends; None if a signal came before.
async fn compile(package: &Package, signals: [Signal; 3]) -> io::Result<Option<ExitStatus>> {
    let [mut interrupt, mut terminate, mut hangup] = signals;
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["check", "--quiet", "--all-targets", "--package", &package.name]).current_dir(&package.root);
    let mut child = command.spawn()?;
    tokio::select! {
        biased;
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
        status = child.wait() => return status.map(Some),
    }
    child.kill().await?;
    Ok(None)
}
