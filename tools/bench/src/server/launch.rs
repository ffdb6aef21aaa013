//! A command line, with its places for the port and the folder.

use std::path::Path;
use std::process::Command;

/// A command that starts a server.
///
/// It is split at blanks, with `'...'`, `"..."` and `\` as in a shell, and no shell runs it. `NAME=value` in front goes
/// into its environment; `{port}` and `{dir}` stand for a free port and a folder of its own.
///
/// ```
/// use skep_bench::server::Launch;
///
/// let launch: Launch = "LOG=off ./blog --listen 127.0.0.1:{port} --data '{dir}/my data'".parse()?;
/// assert!(launch.wants_port());
/// assert!("./blog 'unfinished".parse::<Launch>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    line: String,
    environment: Vec<(String, String)>,
    words: Vec<String>,
}

impl std::str::FromStr for Launch {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let mut words = shlex::split(line).ok_or_else(|| format!("\"{line}\": a quote is not closed"))?;
        let is_setting = |word: &String| {
            word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            })
        };
        let settings = words.iter().take_while(|word| is_setting(word)).count();
        let environment = words
            .drain(..settings)
            .filter_map(|word| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())));
        let environment = environment.collect();
        if words.is_empty() {
            return Err(format!("\"{line}\" is no command; it would be \"./server --port {{port}}\""));
        }
        Ok(Self { line: line.to_owned(), environment, words })
    }
}

impl Launch {
    /// As it was written. See [`Launch`].
    #[must_use]
    pub fn line(&self) -> &str {
        &self.line
    }

    /// Whether a port is filled in. See [`Launch`].
    #[must_use]
    pub fn wants_port(&self) -> bool {
        self.line.contains("{port}")
    }

    pub(super) fn program(&self) -> &str {
        &self.words[0]
    }

    pub(super) fn command(&self, port: u16, dir: &Path) -> Command {
        let fill = |word: &String| fill(word, port, dir);
        let mut command = Command::new(fill(&self.words[0]));
        command.args(self.words[1..].iter().map(fill));
        command.envs(self.environment.iter().map(|(name, value)| (name, fill(value))));
        command
    }
}

/// Puts port and folder in their places. See [`Launch`].
pub(crate) fn fill(text: &str, port: u16, dir: &Path) -> String {
    text.replace("{port}", &port.to_string()).replace("{dir}", &dir.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_that_are_not_closed_are_refused() {
        assert!("a 'b".parse::<Launch>().is_err() && "a\\".parse::<Launch>().is_err());
    }

    #[test]
    fn settings_in_front_are_the_environment() {
        let launch: Launch = "A=1 B='x y' run A=2".parse().unwrap();
        assert_eq!(launch.environment, [("A".to_owned(), "1".to_owned()), ("B".to_owned(), "x y".to_owned())]);
        assert_eq!(launch.words, ["run", "A=2"]);
        assert!("A=1".parse::<Launch>().is_err() && "".parse::<Launch>().is_err());
    }
}
