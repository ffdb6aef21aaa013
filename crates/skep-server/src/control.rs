//! A running server, from outside: what `skep top` asks it for. No interface for applications; it may change with every
//! version.

use std::ffi::OsString;

use crate::config::{self, Config, Flags, Reading, Sources};
use crate::error::StartError;
use crate::supervisor::send_command;
pub use skep_observe::numbers::{ago, bytes, count, micros, nanos, rate, seconds, value};
pub use skep_observe::overview::{Overview, PartOverview, SlotOverview, WorkerOverview};

/// Sends commands to the server that runs with these settings.
#[derive(Clone, Debug)]
pub struct Client(Config);

impl Client {
    /// Takes the flags of a server, and reads the same settings: `skep.toml`, the environment. Settings of an
    /// application are not judged.
    pub fn of_arguments(arguments: Vec<OsString>) -> Result<Self, StartError> {
        let flags = Flags::parse(arguments, &config::table(&[]))?;
        if flags.command.is_some() {
            return Err(StartError::usage(
                "expected settings only, such as --config FILE or --set data=FOLDER".to_owned(),
            ));
        }
        let reading = Reading { flags, fixed: Vec::new(), sources: Sources::of_process(), rows: Vec::new() };
        Ok(Self(reading.read(None)?.config))
    }

    /// Sends a command, and waits for the reply. An error is for people: there is no server, or it refuses.
    pub fn send(&self, command: &str) -> Result<String, String> {
        send_command(&self.0, command)
    }

    /// What the supervisor says of itself and its workers.
    pub fn overview(&self) -> Result<Overview, String> {
        let reply = self.send("status json")?;
        serde_json::from_str(&reply).map_err(|error| format!("the status of the server is not understood: {error}"))
    }

    /// What was counted, as `--control metrics` prints it. An error if nothing is.
    pub fn metrics(&self) -> Result<serde_json::Value, String> {
        let reply = self.send("metrics")?;
        serde_json::from_str(&reply).map_err(|error| format!("the metrics of the server are not understood: {error}"))
    }
}
