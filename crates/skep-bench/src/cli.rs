//! The command line: one word for each thing to measure, and a table of flags for each word.
//!
//! Start reading at [`run`].

mod cold;
mod compare;
mod flags;
mod load;
mod micro;
mod output;
mod settings;
mod show;
mod turns;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::interrupt;
use crate::micro::LogSink;

/// A gate was broken, or nothing could be measured.
const FAILED: u8 = 1;

/// The command line is wrong.
const BAD_USAGE: u8 = 2;

/// No gate was broken, and of one at least the rounds do not say whether it holds.
const UNDECIDED: u8 = 3;

/// Why a word ends without success.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line is wrong; nothing was done.
    Usage(String),
    /// It could not be done, or not to its end.
    Run(String),
    /// It was done, and a gate is broken, which has been printed.
    Broken,
    /// It was done, and it does not say whether a gate holds, which has been printed.
    Undecided,
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self::Run(text)
    }
}

/// What else writes lines of a log, made when it is asked for.
type Sinks<'a> = &'a dyn Fn() -> Result<Vec<LogSink>, String>;

/// A word of `skep bench`.
struct Word {
    name: &'static str,
    what: &'static str,
    run: fn(Vec<String>, Sinks<'_>) -> Result<(), Failure>,
    help: fn() -> String,
}

const WORDS: &[Word] = &[
    Word { name: "URL", what: "load one server", run: |arguments, _| load::run(arguments), help: load::help },
    Word {
        name: "compare",
        what: "variants side by side, in interleaved rounds",
        run: |arguments, _| compare::run(arguments),
        help: compare::help,
    },
    Word {
        name: "show",
        what: "print and compare records",
        run: |arguments, _| show::run(arguments),
        help: show::help,
    },
    Word {
        name: "cold",
        what: "from start to first answer, and after a swap",
        run: |arguments, _| cold::run(arguments),
        help: cold::help,
    },
    Word {
        name: "cache",
        what: "drivers of the cache, direct and through it",
        run: |arguments, _| micro::cache(arguments),
        help: micro::cache_help,
    },
    Word { name: "log", what: "what an event costs that is written, or not", run: micro::log, help: micro::log_help },
];

/// Runs `skep bench` with these arguments, those behind the word `bench`. The exit code is 1 if a gate is broken or nothing could
/// be measured, 2 if the arguments are wrong, 3 if the rounds do not say whether a gate holds.
///
/// ```
/// let code = skep_bench::run(vec!["--help".into()]);
/// assert_eq!(format!("{code:?}"), format!("{:?}", std::process::ExitCode::SUCCESS));
/// ```
#[must_use]
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    run_with(arguments, || Ok(Vec::new()))
}

/// The same, for who has more that writes lines, for `skep bench log`.
///
/// ```
/// use skep_bench::{LogSink, run_with};
///
/// let sinks = || Ok(vec![LogSink::new("nobody", |lines, say| say(lines))]);
/// let code = run_with(vec!["--help".into()], sinks);
/// assert_eq!(format!("{code:?}"), format!("{:?}", std::process::ExitCode::SUCCESS));
/// ```
#[must_use]
pub fn run_with(arguments: Vec<OsString>, sinks: impl Fn() -> Result<Vec<LogSink>, String>) -> ExitCode {
    let arguments: Result<Vec<String>, OsString> = arguments.into_iter().map(OsString::into_string).collect();
    let outcome = match arguments {
        Ok(arguments) => word(arguments, &sinks),
        Err(bad) => Err(Failure::Usage(format!("{} is not UTF-8", bad.display()))),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(text)) => {
            eprintln!("skep bench: {text}\n`skep bench --help` says more.");
            ExitCode::from(BAD_USAGE)
        }
        Err(Failure::Run(text)) => {
            eprintln!("skep bench: {text}");
            ExitCode::from(FAILED)
        }
        Err(Failure::Broken) => ExitCode::from(FAILED),
        Err(Failure::Undecided) => ExitCode::from(UNDECIDED),
    }
}

fn word(arguments: Vec<String>, sinks: Sinks<'_>) -> Result<(), Failure> {
    let first = arguments.first().map(String::as_str);
    let word = WORDS.iter().find(|word| Some(word.name) == first);
    let asks = arguments.iter().any(|argument| matches!(argument.as_str(), "--help" | "-h"));
    match (word, first) {
        (_, None | Some("help")) | (None, Some("--help" | "-h")) => {
            print!("{}", help());
            Ok(())
        }
        (Some(word), _) if asks => {
            print!("{}", (word.help)());
            Ok(())
        }
        (None, _) if asks => {
            print!("{}", load::help());
            Ok(())
        }
        (Some(word), _) => start(word, arguments[1..].to_vec(), sinks),
        (None, Some(other)) if is_unknown(other) => {
            let words: Vec<&str> = WORDS[1..].iter().map(|word| word.name).collect();
            let near = flags::nearest(other, words.iter().copied());
            let meant = near
                .map_or_else(|| format!("the words are {}", words.join(", ")), |word| format!("did you mean {word}?"));
            Err(Failure::Usage(format!("\"{other}\" is neither a URL nor a word; {meant}")))
        }
        (None, _) => start(&WORDS[0], arguments, sinks),
    }
}

/// A word without anything of a URL in it is a mistyped word.
fn is_unknown(word: &str) -> bool {
    !word.starts_with('-') && !word.contains([':', '/', '.'])
}

fn start(word: &Word, arguments: Vec<String>, sinks: Sinks<'_>) -> Result<(), Failure> {
    interrupt::listen().map_err(|error| format!("no signal can be caught: {error}"))?;
    (word.run)(arguments, sinks)
}

fn help() -> String {
    let lines = WORDS[1..].iter().map(|word| format!("       skep bench {:<8} ...   {}\n", word.name, word.what));
    format!(
        "usage: skep bench URL ...        {}\n{}\n`skep bench WORD --help` has the flags of a word. How to measure, and how to read what comes: docs/bench.md.\n\n{}",
        WORDS[0].what,
        lines.collect::<String>(),
        load::help()
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_flag_of_every_word_is_in_its_help_and_in_the_docs() {
        let docs = include_str!("../../../docs/bench.md");
        for word in super::WORDS {
            let help = (word.help)();
            let flags: Vec<&str> = help.split_whitespace().filter(|word| word.starts_with("--")).collect();
            assert!(flags.len() >= 8, "{}", word.name);
            for flag in flags {
                let flag = flag.trim_end_matches([',', ')', '.', ';', ':']);
                assert!(docs.contains(flag), "{} {flag}", word.name);
            }
        }
    }
}
