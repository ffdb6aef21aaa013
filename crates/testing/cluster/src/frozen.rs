//! A server that hangs.

use std::process::Command;

use super::Cluster;

impl Cluster {
    /// Stops the server and its backends where they are, until what this returns is dropped: they keep their
    /// connections, and answer nothing (SIGSTOP).
    #[must_use]
    pub fn freeze(&self) -> Frozen {
        let file = std::fs::read_to_string(self.data().join("postmaster.pid")).expect("it runs");
        let server = file.lines().next().expect("it has the process id").to_owned();
        signal("STOP", std::slice::from_ref(&server));
        // From now on it starts no more of them.
        let children = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children")).expect("it runs");
        let mut processes: Vec<_> = children.split_whitespace().map(str::to_owned).collect();
        signal("STOP", &processes);
        processes.push(server);
        Frozen(processes)
    }
}

/// A server that does nothing. It goes on when this is dropped.
#[derive(Debug)]
pub struct Frozen(Vec<String>);

impl Drop for Frozen {
    fn drop(&mut self) {
        signal("CONT", &self.0);
    }
}

fn signal(name: &str, processes: &[String]) {
    // One of them may have ended by itself.
    _ = Command::new("kill").arg(format!("-{name}")).args(processes).status().expect("there is `kill`");
}
