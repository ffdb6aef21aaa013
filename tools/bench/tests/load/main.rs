//! The client against servers that misbehave, and the command as a person calls it.

mod bad;
mod command;
mod server;
mod started;
mod ways;
