//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::{Arg, Parser, ValueExt};

use super::error::ConfigError;
use super::nearest::nearest;
use super::table::SETTINGS;
use super::value::Kind;

/// What the command line says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    /// What to do instead of serving.
    pub(crate) command: Option<Command>,
    /// The file to read instead of `skep.toml`.
    pub(crate) file: Option<PathBuf>,
    /// Name of the setting, its value, and the flag that said so.
    pub(crate) settings: Vec<(String, String, String)>,
    /// What to say to the server that runs: `--control`.
    pub(crate) word: String,
}

/// What a server can do besides serving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Check,
    Control,
    PrintConfig,
    Routes,
    Help,
    Version,
}

/// Flags that are no settings: flag, argument, help, and what it does, if it is a command.
pub(crate) const OTHERS: [(&str, &str, &str, Option<Command>); 8] = [
    ("--config", "FILE", "Reads settings from FILE instead of skep.toml in the current directory.", None),
    ("--set", "NAME=VALUE", "Sets any of the settings below.", None),
    (
        "--check",
        "",
        "Checks settings, application, certificate, data folder and database, and stops.",
        Some(Command::Check),
    ),
    (
        "--control",
        "WORD",
        "Says WORD to the server that runs with these settings: status, \"status json\", swap, upgrade, add, reopen, stop, \"log LEVEL\".",
        Some(Command::Control),
    ),
    ("--print-config", "", "Prints each setting and where it came from, and stops.", Some(Command::PrintConfig)),
    ("--routes", "", "Prints the table of routes, and stops.", Some(Command::Routes)),
    ("--help", "", "Prints this, and stops.", Some(Command::Help)),
    ("--version", "", "Prints name and version, and stops.", Some(Command::Version)),
];

impl Flags {
    /// Reads arguments, without the program's own name.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, ConfigError> {
        let mut flags = Self::default();
        let mut parser = Parser::from_args(arguments);
        flags.parse_all(&mut parser).map_err(|problem| ConfigError::one(problem.to_string()))?;
        Ok(flags)
    }

    fn parse_all(&mut self, parser: &mut Parser) -> Result<(), lexopt::Error> {
        while let Some(argument) = parser.next()? {
            let flag = match argument {
                Arg::Long(name) => format!("--{name}"),
                Arg::Short('h') => "--help".to_owned(),
                Arg::Short('V') => "--version".to_owned(),
                Arg::Short(letter) => return Err(unknown(&format!("-{letter}"))),
                Arg::Value(value) => {
                    return Err(format!("\"{}\" is not expected here; settings start with --", value.display()).into());
                }
            };
            self.take(&flag, parser)?;
        }
        Ok(())
    }

    fn take(&mut self, flag: &str, parser: &mut Parser) -> Result<(), lexopt::Error> {
        let command = OTHERS.iter().find(|(name, ..)| *name == flag).and_then(|other| other.3);
        if let Some(command) = command {
            if command == Command::Control {
                self.word = parser.value()?.string()?;
            }
            // The first command counts, but help is always welcome.
            if command == Command::Help || self.command.is_none() {
                self.command = Some(command);
            }
            return Ok(());
        }
        match flag {
            "--config" => self.file = Some(parser.value()?.into()),
            "--set" => {
                let said = parser.value()?.string()?;
                let (name, value) = said.split_once('=').ok_or_else(|| {
                    lexopt::Error::from(format!("--set {said}: expected NAME=VALUE, such as --set log.access=false"))
                })?;
                self.settings.push((name.trim().to_owned(), value.to_owned(), flag.to_owned()));
            }
            _ => self.take_setting(flag, parser)?,
        }
        Ok(())
    }

    fn take_setting(&mut self, flag: &str, parser: &mut Parser) -> Result<(), lexopt::Error> {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.flag().is_some_and(|(name, _)| name == flag)) else {
            return Err(unknown(flag));
        };
        let value = match (&setting.kind, parser.optional_value()) {
            (_, Some(value)) => value.string()?,
            (Kind::Switch, None) => "true".to_owned(),
            (_, None) => parser.value()?.string()?,
        };
        self.settings.push((setting.name.to_owned(), value, flag.to_owned()));
        Ok(())
    }
}

/// The flags of every server, and whether a value follows: for a program that has flags of its own, and finds one that is neither.
///
/// ```
/// assert!(skep_server::flags().any(|flag| flag == ("--listen", true)));
/// assert!(skep_server::flags().any(|flag| flag == ("--check", false)));
/// ```
pub fn flags() -> impl Iterator<Item = (&'static str, bool)> {
    let settings =
        SETTINGS.iter().filter_map(|setting| Some((setting.flag()?.0, !matches!(setting.kind, Kind::Switch))));
    settings.chain(OTHERS.iter().map(|(flag, argument, ..)| (*flag, !argument.is_empty())))
}

fn unknown(flag: &str) -> lexopt::Error {
    let flags = SETTINGS.iter().filter_map(|setting| Some(setting.flag()?.0));
    if let Some(meant) = nearest(flag, flags.chain(OTHERS.map(|other| other.0))) {
        return format!("there is no flag {flag}; did you mean {meant}?").into();
    }
    let name = flag.trim_start_matches('-').replace('-', "_");
    if let Some(setting) = SETTINGS.iter().find(|setting| setting.name.rsplit('.').next() == Some(&name)) {
        return format!("there is no flag {flag}; write --set {}=VALUE", setting.name).into();
    }
    format!("there is no flag {flag}; --help lists all").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Flags, String> {
        Flags::parse(arguments.iter().map(Into::into)).map_err(|error| error.to_string())
    }

    #[test]
    fn an_unknown_flag_names_its_neighbour() {
        assert_eq!(parse(&["--lisen", ":1"]).unwrap_err(), "there is no flag --lisen; did you mean --listen?");
        assert_eq!(
            parse(&["--header-time"]).unwrap_err(),
            "there is no flag --header-time; write --set limits.header_time=VALUE"
        );
        assert_eq!(parse(&["--xyzzy"]).unwrap_err(), "there is no flag --xyzzy; --help lists all");
        assert!(parse(&["serve"]).unwrap_err().contains("\"serve\" is not expected here"));
    }

    #[test]
    fn flags_fill_settings() {
        let flags =
            parse(&["--listen", ":1", "--tls-self-signed", "--set", "a.b=c=d", "--check", "--config=x.toml"]).unwrap();
        let said: Vec<_> = flags.settings.iter().map(|(name, value, _)| (name.as_str(), value.as_str())).collect();
        assert_eq!(said, [("listen", ":1"), ("tls.self_signed", "true"), ("a.b", "c=d")]);
        assert_eq!(flags.command, Some(Command::Check));
        assert_eq!(flags.file, Some("x.toml".into()));
        assert!(parse(&["--workers"]).unwrap_err().contains("--workers"));
    }
}
