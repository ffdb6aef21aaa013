//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::{Arg, Parser, ValueExt};
use skep::settings::{Kind, RawSetting, RawValue, Row, Source, Table};
use skep_units::nearest;

use crate::error::StartError;

#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    /// What to do instead of serving.
    pub(crate) command: Option<Command>,
    /// The file to read instead of `skep.toml`.
    pub(crate) file: Option<PathBuf>,
    pub(crate) settings: Vec<RawSetting>,
    /// With `--check`: also what a deployment lacks.
    pub(crate) deploy: bool,
    /// With `--routes`: also where each table is read and written.
    pub(crate) sql: bool,
    /// With `--routes`: as JSON.
    pub(crate) json: bool,
    /// The control command: `--control`.
    pub(crate) control_command: String,
    /// Level and duration of `--log-token`.
    pub(crate) log_token: String,
    /// The file of `--backup` or `--restore`.
    pub(crate) backup: PathBuf,
    /// What follows `--run`: a task, and its arguments.
    pub(crate) task: Vec<String>,
}

/// What a server can do besides serving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Check,
    Control,
    Backup,
    Restore,
    Migrations,
    GenerateSecret,
    PrintConfig,
    Routes,
    Run,
    LogToken,
    Help,
    Version,
}

/// Flags that are not settings: flag, argument, help, and the command.
pub(crate) const OTHERS: [(&str, &str, &str, Option<Command>); 17] = [
    ("--config", "FILE", "Read settings from FILE instead of skep.toml in the current directory.", None),
    ("--set", "NAME=VALUE", "Set any of the settings below.", None),
    (
        "--check",
        "",
        "Check settings, application, addresses, certificate, files and limits of the process without serving.",
        Some(Command::Check),
    ),
    (
        "--deploy",
        "",
        "With --check: also list what a deployment on the internet lacks (exit code 1 if anything).",
        None,
    ),
    (
        "--control",
        "COMMAND",
        "Send a command to the server that runs with these settings: status, \"status json\", metrics, swap, upgrade, add, \"drain WORKER\", reopen, stop, \"log LEVEL\", \"log CATEGORY LEVEL\", \"log user NAME LEVEL TIME\", \"log address NETWORK LEVEL TIME\".",
        Some(Command::Control),
    ),
    (
        "--backup",
        "FILE",
        "Copy the database to the new file FILE, whether a server uses it or not.",
        Some(Command::Backup),
    ),
    (
        "--restore",
        "FILE",
        "Put a copy of the backup FILE in the place of the database, which is kept beside it. No server may run.",
        Some(Command::Restore),
    ),
    (
        "--migrations",
        "",
        "Print for each migration when it ran in the database, or that it is pending and what it does more than add.",
        Some(Command::Migrations),
    ),
    ("--print-config", "", "Print each setting and its source.", Some(Command::PrintConfig)),
    ("--generate-secret", "", "Print a new key for the file of the setting secret.", Some(Command::GenerateSecret)),
    ("--routes", "", "Print the table of routes.", Some(Command::Routes)),
    ("--sql", "", "With --routes: also print where `sql!` reads and writes each table.", None),
    ("--json", "", "With --routes: print JSON, with file and line of each service.", None),
    (
        "--run",
        "TASK ARGUMENT...",
        "Run a task of the application and exit, or list its tasks. All that follows is the task's.",
        Some(Command::Run),
    ),
    (
        "--log-token",
        "WORDS",
        "Print a token that raises the log level of requests which bring it as Skep-Log, such as \"debug 1h\".",
        Some(Command::LogToken),
    ),
    ("--help", "", "Print this help.", Some(Command::Help)),
    ("--version", "", "Print name and version.", Some(Command::Version)),
];

impl Flags {
    /// Reads arguments, without the name of the program.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>, table: &Table) -> Result<Self, StartError> {
        let mut flags = Self::default();
        let mut parser = Parser::from_args(arguments);
        flags.parse_all(&mut parser, table).map_err(|problem| StartError::usage(problem.to_string()))?;
        if flags.deploy && flags.command != Some(Command::Check) {
            return Err(StartError::usage("--deploy stands with --check only: --check --deploy".to_owned()));
        }
        if flags.sql && flags.command != Some(Command::Routes) {
            return Err(StartError::usage("--sql stands with --routes only: --routes --sql".to_owned()));
        }
        if flags.json && (flags.command != Some(Command::Routes) || flags.sql) {
            return Err(StartError::usage("--json stands with --routes only: --routes --json".to_owned()));
        }
        Ok(flags)
    }

    fn parse_all(&mut self, parser: &mut Parser, table: &Table) -> Result<(), lexopt::Error> {
        while let Some(argument) = parser.next()? {
            let flag = match argument {
                Arg::Long(name) => format!("--{name}"),
                Arg::Short('h') => "--help".to_owned(),
                Arg::Short('V') => "--version".to_owned(),
                Arg::Short(letter) => return Err(unknown(&format!("-{letter}"), table)),
                Arg::Value(value) => {
                    return Err(format!("\"{}\" is not expected here; settings start with --", value.display()).into());
                }
            };
            self.take(&flag, parser, table)?;
        }
        Ok(())
    }

    fn take(&mut self, flag: &str, parser: &mut Parser, table: &Table) -> Result<(), lexopt::Error> {
        let command = OTHERS.iter().find(|(name, ..)| *name == flag).and_then(|other| other.3);
        if let Some(command) = command {
            match command {
                Command::Control => self.control_command = parser.value()?.string()?,
                Command::Backup | Command::Restore => self.backup = parser.value()?.into(),
                Command::Run => {
                    let words = parser.raw_args()?.map(ValueExt::string);
                    self.task = words.collect::<Result<_, _>>()?;
                }
                Command::LogToken => self.log_token = parser.value()?.string()?,
                _ => {}
            }
            // The first command counts, but help is always welcome.
            if command == Command::Help || self.command.is_none() {
                self.command = Some(command);
            }
            return Ok(());
        }
        match flag {
            "--deploy" => self.deploy = true,
            "--sql" => self.sql = true,
            "--json" => self.json = true,
            "--config" => self.file = Some(parser.value()?.into()),
            "--set" => {
                let text = parser.value()?.string()?;
                let (name, value) = text.split_once('=').ok_or_else(|| {
                    lexopt::Error::from(format!("--set {text}: expected NAME=VALUE, such as --set log.access=false"))
                })?;
                self.push(name.trim(), value.to_owned(), flag);
            }
            _ => self.take_setting(flag, parser, table)?,
        }
        Ok(())
    }

    fn take_setting(&mut self, flag: &str, parser: &mut Parser, table: &Table) -> Result<(), lexopt::Error> {
        let is_named = |row: &&Row| row.flag.as_ref().is_some_and(|(name, _)| name == flag);
        let row = table.rows().iter().find(is_named).ok_or_else(|| unknown(flag, table))?;
        let value = match (&row.kind, parser.optional_value()) {
            (_, Some(value)) => value.string()?,
            (Kind::Bool, None) => "true".to_owned(),
            (_, None) => parser.value()?.string()?,
        };
        self.push(&row.name, value, flag);
        Ok(())
    }

    fn push(&mut self, name: &str, value: String, flag: &str) {
        let source = Source::Flag(flag.to_owned());
        self.settings.push(RawSetting { name: name.to_owned(), value: RawValue::Text(value), source });
    }
}

fn unknown(flag: &str, table: &Table) -> lexopt::Error {
    let flags = table.rows().iter().filter_map(|row| row.flag.as_ref()).map(|(name, _)| &**name);
    if let Some(meant) = nearest(flag, flags.chain(OTHERS.map(|other| other.0))) {
        return format!("there is no flag {flag}; did you mean {meant}?").into();
    }
    let name = flag.trim_start_matches('-').replace('-', "_");
    if let Some(row) = table.rows().iter().find(|row| row.name.rsplit('.').next() == Some(&name)) {
        return format!("there is no flag {flag}; write --set {}=VALUE", row.name).into();
    }
    format!("there is no flag {flag}; --help lists all").into()
}

#[cfg(test)]
#[path = "../../tests/unit/config/flags.rs"]
mod tests;
