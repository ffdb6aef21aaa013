//! `skep log import FILE`: what a configuration of Log4perl is as settings of Skep, and what it has that they have not.
//!
//! It reads properties (`log4perl.logger.Blog.Search = DEBUG, File`) and runs no code that is in them.

mod appender;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::process::ExitCode;

use appender::Appender;

const USAGE: &str =
    "usage: skep log import FILE\n\nPrint the settings that are equivalent to a configuration of Log4perl.\n";

/// The command `skep log`.
pub(crate) fn run(arguments: Vec<OsString>) -> ExitCode {
    let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.as_slice() {
        ["import", file] if !file.starts_with('-') => match std::fs::read_to_string(file) {
            Ok(text) => {
                print!("{}", import(&text));
                ExitCode::SUCCESS
            }
            Err(error) => {
                eprintln!("skep: {file}: {error}");
                ExitCode::FAILURE
            }
        },
        ["--help" | "-h"] | ["import", "--help" | "-h"] => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprint!("{USAGE}");
            ExitCode::from(crate::BAD_USAGE)
        }
    }
}

/// What a configuration says.
#[derive(Debug, Default)]
struct Configuration {
    root: Logger,
    /// By category, with `::` between its parts.
    loggers: BTreeMap<String, Logger>,
    appenders: BTreeMap<String, Appender>,
    /// What has no equivalent.
    left: Vec<String>,
}

#[derive(Debug, Default)]
struct Logger {
    level: Option<String>,
    appenders: Vec<String>,
    is_exclusive: bool,
}

/// The settings of `skep.toml`, with comments about what is missing.
fn import(text: &str) -> String {
    let mut configuration = Configuration::default();
    for (name, value) in properties(text) {
        configuration.take(&name, &value);
    }
    configuration.to_settings()
}

/// Names and values; a line that ends with a backslash goes on.
fn properties(text: &str) -> Vec<(String, String)> {
    let joined = text.replace("\\\r\n", "").replace("\\\n", "");
    let lines = joined.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', '!']));
    let pair = |line: &str| line.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
    lines.filter_map(pair).collect()
}

impl Configuration {
    fn take(&mut self, name: &str, value: &str) {
        let Some(rest) = name.strip_prefix("log4perl.").or_else(|| name.strip_prefix("log4j.")) else {
            return self.leave(name, value, "is no property of Log4perl");
        };
        let (kind, rest) = rest.split_once('.').unwrap_or((rest, ""));
        match (kind, rest) {
            ("rootLogger" | "rootCategory" | "logger" | "category", "") => {
                let is_exclusive = self.root.is_exclusive;
                self.root = self.logger(name, value, is_exclusive);
            }
            ("logger" | "category", category) => {
                let category = path(category);
                let is_exclusive = self.loggers.get(&category).is_some_and(|logger| logger.is_exclusive);
                let logger = self.logger(name, value, is_exclusive);
                self.loggers.insert(category, logger);
            }
            ("additivity", category) => {
                self.loggers.entry(path(category)).or_default().is_exclusive = matches!(value, "0" | "false");
            }
            ("appender", rest) => {
                let (appender, option) = rest.split_once('.').unwrap_or((rest, ""));
                let problem = self.appenders.entry(appender.to_owned()).or_default().take(option, value);
                if let Some(problem) = problem {
                    self.leave(name, value, &problem);
                }
            }
            ("threshold", "") => self.leave(name, value, "give each output level="),
            ("filter", _) => self.leave(name, value, "write level=, most= or match= at the outputs that use it"),
            ("PatternLayout", _) => self.leave(name, value, "a letter of one's own: code is not imported"),
            _ => self.leave(name, value, "has no equivalent"),
        }
    }

    fn logger(&mut self, name: &str, value: &str, is_exclusive: bool) -> Logger {
        let mut words = value.split(',').map(str::trim);
        let said = words.next().unwrap_or_default();
        let level = level(said);
        if level.is_none() && !said.is_empty() {
            self.leave(name, said, "is no level of Log4perl itself");
        }
        Logger {
            level,
            appenders: words.filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect(),
            is_exclusive,
        }
    }

    fn leave(&mut self, name: &str, value: &str, why: &str) {
        self.left.push(format!("{name} = {value}: {why}"));
    }

    fn to_settings(&self) -> String {
        let mut out = String::from("[log]\n");
        let _ = writeln!(out, "level = {}", quoted(self.root.level.as_deref().unwrap_or("info")));
        let (outputs, left) = self.outputs();
        if !outputs.is_empty() {
            out.push_str("outputs = [\n");
            for output in &outputs {
                let _ = writeln!(out, "    {},", quoted(output));
            }
            out.push_str("]\n");
        }
        let mut table = "\n[log.levels]\n";
        for (category, logger) in &self.loggers {
            if let Some(level) = &logger.level {
                let _ = writeln!(out, "{}{} = {}", std::mem::take(&mut table), quoted(category), quoted(level));
            }
        }
        let left: Vec<&String> = self.left.iter().chain(&left).collect();
        if !left.is_empty() {
            out.push_str("\n# Not imported:\n");
            for line in left {
                let _ = writeln!(out, "# {}", line.replace('\n', " "));
            }
        }
        out
    }

    /// The descriptions of outputs, and what they lack.
    fn outputs(&self) -> (Vec<String>, Vec<String>) {
        let (mut outputs, mut left) = (Vec::new(), Vec::new());
        for (name, appender) in &self.appenders {
            let is_used = |logger: &Logger| logger.appenders.contains(name);
            let users: Vec<_> = self.loggers.iter().filter(|(_, logger)| is_used(logger)).collect();
            if !is_used(&self.root) && users.is_empty() {
                left.push(format!("appender {name}: no logger uses it"));
                continue;
            }
            let mut description = match appender.describe() {
                Ok(description) => description,
                Err(why) => {
                    left.push(format!("appender {name}: {why}"));
                    continue;
                }
            };
            if !is_used(&self.root) {
                let categories: Vec<&str> = users.iter().map(|(category, _)| category.as_str()).collect();
                let _ = write!(description, " only={}", categories.join(","));
                if users.iter().any(|(_, logger)| logger.is_exclusive) {
                    description.push_str(" additive=no");
                }
            }
            outputs.push(description);
        }
        let unknown = |logger: &Logger| -> Vec<String> {
            logger.appenders.iter().filter(|name| !self.appenders.contains_key(*name)).cloned().collect()
        };
        let unknown = self.loggers.values().chain([&self.root]).flat_map(unknown);
        left.extend(unknown.map(|name| format!("appender {name}: it is not defined")));
        (outputs, left)
    }
}

/// A category of Perl, `Blog.Search` or `Blog::Search`, with `::`.
fn path(category: &str) -> String {
    category.split(['.', ':']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("::")
}

/// The level that is nearest to one of Log4perl.
pub(crate) fn level(name: &str) -> Option<String> {
    let level = match name.to_ascii_uppercase().as_str() {
        "ALL" | "TRACE" => "trace",
        "DEBUG" => "debug",
        "INFO" => "info",
        "WARN" => "warn",
        "ERROR" | "FATAL" => "error",
        "OFF" => "off",
        _ => return None,
    };
    Some(level.to_owned())
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_say_what_the_configuration_says_and_what_they_lack() {
        let settings = import(
            "# a comment\n\
             log4perl.rootLogger = WARN, Screen\n\
             log4perl.logger.Blog.Search = DEBUG, \\\n File, Mail\n\
             log4perl.additivity.Blog.Search = 0\n\
             log4perl.appender.Screen = Log::Log4perl::Appender::ScreenColoredLevels\n\
             log4perl.appender.Screen.layout = Log::Log4perl::Layout::PatternLayout\n\
             log4perl.appender.Screen.layout.ConversionPattern = %d{HH:mm} \"%p\" %m%n\n\
             log4perl.appender.File = Log::Dispatch::FileRotate\n\
             log4perl.appender.File.filename = /var/log/blog.log\n\
             log4perl.appender.File.size = 1048576\n\
             log4perl.appender.File.max = 5\n\
             log4perl.appender.File.Threshold = INFO\n\
             log4perl.appender.File.layout = SimpleLayout\n\
             log4perl.appender.Mail = Log::Dispatch::Email::MailSend\n\
             log4perl.appender.Mail.to = ann@example.org\n\
             log4perl.filter.X = sub { 1 }\n",
        );
        let expected = "[log]\n\
             level = \"warn\"\n\
             outputs = [\n    \
                 \"file:/var/log/blog.log rotate=1048576B keep=5 level=info pattern=\\\"%p - %m\\\" only=Blog::Search additive=no\",\n    \
                 \"stderr pattern=\\\"%d{HH:mm} \\\\\\\"%p\\\\\\\" %m%n\\\"\",\n\
             ]\n\n\
             [log.levels]\n\
             \"Blog::Search\" = \"debug\"\n\n\
             # Not imported:\n\
             # log4perl.appender.Mail.to = ann@example.org: has no equivalent\n\
             # log4perl.filter.X = sub { 1 }: write level=, most= or match= at the outputs that use it\n\
             # appender Mail: Log::Dispatch::Email::MailSend has no equivalent\n";
        assert_eq!(settings, expected);
    }

    #[test]
    fn code_is_named_and_not_run() {
        let settings =
            import("log4perl.logger = sub { exit }, A\nlog4perl.appender.A = Log::Log4perl::Appender::DBI\n");
        assert!(settings.contains("# log4perl.logger = sub { exit }: is no level"), "{settings}");
        assert!(settings.contains("# appender A: Log::Log4perl::Appender::DBI has no equivalent"), "{settings}");
    }
}
