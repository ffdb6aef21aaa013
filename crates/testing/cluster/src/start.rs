//! A server that starts.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::{Cluster, as_shell, program};

impl Cluster {
    /// Starts the server that was stopped, and waits until it answers.
    pub fn start_again(&mut self) {
        let mut command = as_shell();
        command
            .args(["-c", "\"$@\" & read -r how; kill -\"${how:-QUIT}\" $!; wait $!", "sh"])
            .arg(program("postgres"))
            .arg("-D")
            .arg(self.folder.path().join("data"))
            .arg("-k")
            .arg(self.folder.path())
            .args(["-c", "listen_addresses=", "-c", "fsync=off"]);
        self.options.iter().for_each(|option| _ = command.args(["-c", option]));
        let log = File::options().create(true).append(true).open(self.log()).expect("a file in a folder of ours");
        // A group of its own: Ctrl-C ends what uses it, and then it ends.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log);
        self.shell = Some(command.spawn().expect("there is a shell"));
        let start = Instant::now();
        while !self.answers() {
            let said = || std::fs::read_to_string(self.log()).unwrap_or_default();
            assert!(start.elapsed() < Duration::from_mins(1), "PostgreSQL does not start:\n{}", said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What the server says.
    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn answers(&self) -> bool {
        let mut command = Command::new(program("pg_isready"));
        command.arg("-q").arg("-h").arg(self.folder.path());
        let port = self.options.iter().find_map(|option| option.strip_prefix("port="));
        command.args(port.map(|port| format!("--port={port}")));
        command.status().is_ok_and(|status| status.success())
    }
}
