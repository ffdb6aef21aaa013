//! Flags as values: a name, what it takes, what it does. Help and parsing read the same table.

use super::Failure;

/// A flag that sets something in `T`.
pub(crate) struct Flag<T> {
    /// `connections`
    pub(crate) name: &'static str,
    /// `c`
    pub(crate) short: Option<char>,
    /// `N`; empty: it takes nothing.
    pub(crate) takes: &'static str,
    pub(crate) help: &'static str,
    pub(crate) set: fn(&mut T, &str) -> Result<(), String>,
}

/// Flags that belong together, under their title in the help of a word.
pub(crate) struct Section<T> {
    pub(crate) title: &'static str,
    pub(crate) flags: Vec<Flag<T>>,
}

impl<T> Section<T> {
    pub(crate) fn new(title: &'static str, flags: impl IntoIterator<Item = Flag<T>>) -> Self {
        Self { title, flags: flags.into_iter().collect() }
    }
}

/// Reads arguments into `settings`. What is no flag is given back.
pub(crate) fn read<T>(
    sections: &[Section<T>],
    settings: &mut T,
    arguments: Vec<String>,
) -> Result<Vec<String>, Failure> {
    let usage = |text: String| Failure::Usage(text);
    let mut parser = lexopt::Parser::from_args(arguments);
    let mut others = Vec::new();
    let all = || sections.iter().flat_map(|section| &section.flags);
    while let Some(argument) = parser.next().map_err(|error| usage(error.to_string()))? {
        let (flag, shown) = match argument {
            lexopt::Arg::Value(value) => {
                others.push(value.to_string_lossy().into_owned());
                continue;
            }
            lexopt::Arg::Long(name) => (all().find(|flag| flag.name == name), format!("--{name}")),
            lexopt::Arg::Short(name) => (all().find(|flag| flag.short == Some(name)), format!("-{name}")),
        };
        let Some(flag) = flag else { return Err(usage(unknown(&shown, all().map(|flag| flag.name)))) };
        let value = if flag.takes.is_empty() {
            String::new()
        } else {
            let value = parser.value().map_err(|_| usage(format!("{shown} wants {}", flag.takes)))?;
            value.to_string_lossy().into_owned()
        };
        (flag.set)(settings, &value).map_err(|error| usage(format!("{shown}: {error}")))?;
    }
    Ok(others)
}

fn unknown<'a>(flag: &str, names: impl Iterator<Item = &'a str>) -> String {
    let near = nearest(flag.trim_start_matches('-'), names);
    let meant = near.map_or(String::new(), |name| format!("; did you mean --{name}?"));
    format!("there is no flag {flag}{meant}")
}

/// The name that was probably meant: at most two letters away.
pub(crate) fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = names.map(|name| (distance(name, word), name)).min();
    near.filter(|(distance, _)| *distance <= 2).map(|(_, name)| name)
}

/// How many letters must be changed, added or taken away (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut corner = row[0];
        row[0] = line + 1;
        for (place, their) in other.iter().enumerate() {
            let changed = corner + usize::from(letter != *their);
            corner = row[place + 1];
            row[place + 1] = changed.min(corner + 1).min(row[place] + 1);
        }
    }
    row[other.len()]
}

/// How a word is used, and its flags: those that [`read`] knows.
pub(crate) fn help<T>(usage: &str, sections: &[Section<T>]) -> String {
    let section = |section: &Section<T>| format!("\n{}:\n{}", section.title, lines(&section.flags));
    format!("usage: {usage}\n{}", sections.iter().map(section).collect::<String>())
}

/// A line for each flag, or two.
fn lines<T>(table: &[Flag<T>]) -> String {
    let line = |flag: &Flag<T>| {
        let short = flag.short.map_or("    ".to_owned(), |short| format!("-{short}, "));
        let name = format!("{short}--{} {}", flag.name, flag.takes);
        let name = name.trim_end();
        if name.len() > 28 {
            format!("  {name}\n{:32}{}\n", "", flag.help)
        } else {
            format!("  {name:<30}{}\n", flag.help)
        }
    };
    table.iter().map(line).collect()
}

/// A number within bounds.
pub(crate) fn number<N>(text: &str, least: N, most: N) -> Result<N, String>
where
    N: std::str::FromStr + PartialOrd + std::fmt::Display,
{
    let number = text.parse::<N>().ok().filter(|number| (&least..=&most).contains(&number));
    number.ok_or_else(|| format!("\"{text}\" is no number from {least} to {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Settings {
        count: u32,
        loud: bool,
    }

    fn sections() -> [Section<Settings>; 2] {
        [Section::new("How many", [COUNT]), Section::new("How", [LOUD])]
    }

    const COUNT: Flag<Settings> = Flag {
        name: "count",
        short: Some('c'),
        takes: "N",
        help: "how many",
        set: |to, text| {
            to.count = number(text, 1, 9)?;
            Ok(())
        },
    };

    const LOUD: Flag<Settings> = Flag {
        name: "loud",
        short: None,
        takes: "",
        help: "say so",
        set: |to, _| {
            to.loud = true;
            Ok(())
        },
    };

    fn settings(line: &str) -> Result<(Settings, Vec<String>), String> {
        let mut settings = Settings::default();
        match read(&sections(), &mut settings, line.split_whitespace().map(str::to_owned).collect()) {
            Ok(others) => Ok((settings, others)),
            Err(Failure::Usage(text) | Failure::Run(text)) => Err(text),
            Err(Failure::Broken | Failure::Undecided) => Err(String::new()),
        }
    }

    #[test]
    fn flags_are_read_in_every_form() {
        for line in ["-c 3 --loud x", "--count=3 x --loud", "-c3 --loud -- x"] {
            let (settings, others) = settings(line).unwrap();
            assert_eq!((settings.count, settings.loud, others), (3, true, vec!["x".to_owned()]), "{line}");
        }
    }

    #[test]
    fn a_wrong_flag_says_what_would_be_right() {
        let error = |line| settings(line).err().unwrap();
        assert_eq!(error("--cuont 3"), "there is no flag --cuont; did you mean --count?");
        assert_eq!(error("--sausage"), "there is no flag --sausage");
        assert_eq!(error("-c"), "-c wants N");
        assert_eq!(error("-c 10"), "-c: \"10\" is no number from 1 to 9");
    }

    #[test]
    fn help_has_every_flag() {
        let expected = "usage: it [FLAG...]\n\nHow many:\n  -c, --count N                 how many\n\nHow:\n      --loud                    say so\n";
        assert_eq!(help("it [FLAG...]", &sections()), expected);
    }
}
