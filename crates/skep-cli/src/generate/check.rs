//! Whether the application compiles with what was written.

use std::process::ExitStatus;

use skep_sql_lock::Dialect;
use tokio::signal::unix::{SignalKind, signal};

use super::package::Package;
use crate::sql;

/// Compiles the package with its tests. On PostgreSQL, the statements are noted before.
pub(super) fn check(package: &Package) -> Result<(), String> {
    if package.dialect == Dialect::Postgres {
        println!("{}", sql::check_package(&package.root.join("Cargo.toml"))?.trim_end());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let status = runtime.and_then(|runtime| runtime.block_on(compile(package)));
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err("the application does not compile with it, for the reason above".to_owned()),
        Err(error) => Err(format!("cargo: {error}")),
    }
}

/// Who presses Ctrl-C ends cargo, and not this process, which has something to restore; nor does who ends it with TERM.
async fn compile(package: &Package) -> std::io::Result<ExitStatus> {
    let mut command = tokio::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["check", "--quiet", "--all-targets", "--package", &package.name]).current_dir(&package.root);
    let mut terminated = signal(SignalKind::terminate())?;
    let mut child = command.spawn()?;
    tokio::select! {
        status = child.wait() => return status,
        // The terminal sends it to cargo, too.
        _ = tokio::signal::ctrl_c() => {}
        _ = terminated.recv() => child.start_kill()?,
    }
    child.wait().await
}
