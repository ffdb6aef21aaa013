//! What is to be served, from the command line and from `skep.toml`.
//!
//! `skep serve FILE` serves one component. Without a file, each table `[isolate.NAME]` of `skep.toml` is an application; flags then hold for all
//! of them, over what the tables say. What is not ours on the command line is the server's.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::disk::Disk;
use crate::error::Wrong;
use crate::options::{MOST_INSTANCES, Options, Row, TABLE, nearest};

/// Everything that was said.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) applications: Vec<Options>,
    pub(crate) compile_cache: Cache,
    pub(crate) status: Option<String>,
    /// The server's folder for data, as far as can be told before it has understood its settings: for `--check`.
    pub(crate) data: PathBuf,
    /// The server's `swap.allow_breaking_migration`: it holds for new versions of a component, too.
    pub(crate) allow_breaking: bool,
    /// For the server.
    pub(crate) rest: Vec<OsString>,
}

/// Where compiled code is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Cache {
    /// The user's own folder for such things, if there is one.
    #[default]
    Usual,
    None,
    At(PathBuf),
}

/// Flags that are not of one application: name, argument, help.
pub(crate) const OTHERS: &[(&str, &str, &str)] = &[
    (
        "--compile-cache",
        "DIR|none",
        "Where compiled code is kept, so that the next start compiles nothing: $XDG_CACHE_HOME/skep or ~/.cache/skep, unless \
         said. A folder or a file that others may write is not used.",
    ),
    ("--status", "PATH", "Shows at this path how the applications are. Without it there is no such page."),
];

/// A command line with our flags taken out.
#[derive(Default)]
pub(crate) struct Line {
    pub(crate) file: Option<PathBuf>,
    pub(crate) said: Vec<(&'static Row, String)>,
    pub(crate) others: Vec<(&'static str, String)>,
    pub(crate) rest: Vec<OsString>,
}

impl Line {
    /// `file`: the first argument, if it is no flag.
    pub(crate) fn read(arguments: Vec<OsString>) -> Result<Self, Wrong> {
        let mut line = Self::default();
        let mut arguments = arguments.into_iter().peekable();
        line.file = arguments.next_if(|first| !first.as_encoded_bytes().starts_with(b"-")).map(PathBuf::from);
        while let Some(argument) = arguments.next() {
            let Some(text) = argument.to_str() else {
                line.rest.push(argument);
                continue;
            };
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (text, None),
            };
            let row = TABLE.iter().find(|row| row.flag() == name);
            let other = OTHERS.iter().find(|(flag, ..)| *flag == name);
            if row.is_none() && other.is_none() {
                line.rest.push(argument);
                continue;
            }
            let value = match value {
                Some(value) => value,
                None => {
                    let next =
                        arguments.next().ok_or_else(|| Wrong(format!("{name} needs a value; --help says which")))?;
                    next.into_string().map_err(|_| Wrong(format!("{name}: the value is not UTF-8")))?
                }
            };
            match (row, other) {
                (Some(row), _) => line.said.push((row, value)),
                (None, Some((flag, ..))) => line.others.push((flag, value)),
                (None, None) => {}
            }
        }
        Ok(line)
    }

    /// A flag that nobody has, and that looks like one of ours. What looks like one of its own, the server says itself.
    fn is_spelt_right(&self) -> Result<(), Wrong> {
        let ours: Vec<String> =
            TABLE.iter().map(Row::flag).chain(OTHERS.iter().map(|(flag, ..)| (*flag).to_owned())).collect();
        let mut rest = self.rest.iter().filter_map(|argument| argument.to_str());
        while let Some(argument) = rest.next() {
            let flag = argument.split('=').next().unwrap_or(argument);
            if !flag.starts_with("--") || flag == "--" {
                continue;
            }
            match skep_server::flags().find(|(known, _)| *known == flag) {
                // Its value may begin with anything.
                Some((_, takes_value)) => {
                    if takes_value && flag == argument {
                        rest.next();
                    }
                }
                None => {
                    let all = ours.iter().map(String::as_str).chain(skep_server::flags().map(|(flag, _)| flag));
                    if let Some(meant) = nearest(flag, all).filter(|meant| ours.iter().any(|flag| flag == meant)) {
                        return Err(Wrong(format!("there is no flag {flag}; did you mean {meant}?")));
                    }
                }
            }
        }
        Ok(())
    }

    /// True if it is a word to a server that runs, which knows itself what it serves.
    fn asks_a_server(&self) -> bool {
        self.rest.iter().any(|argument| argument.to_string_lossy().split('=').next() == Some("--control"))
    }

    fn other(&self, flag: &str) -> Option<&str> {
        self.others.iter().rev().find(|(known, _)| *known == flag).map(|(_, value)| value.as_str())
    }

    /// Says of an application what the flags say.
    pub(crate) fn apply(&self, options: &mut Options) -> Result<(), Wrong> {
        for (row, value) in &self.said {
            options.set(row, value).map_err(|right| Wrong(format!("{} {value}: {right}", row.flag())))?;
        }
        Ok(())
    }

    /// Where compiled code is kept.
    pub(crate) fn cache(&self) -> Cache {
        match self.other("--compile-cache") {
            None => Cache::Usual,
            Some("none") => Cache::None,
            Some(folder) => Cache::At(folder.into()),
        }
    }

    /// What of the server's settings is ours to know: its folder for data, and whether migrations may break.
    fn of_server(&self) -> (PathBuf, bool) {
        let text = self.settings_file().and_then(|(path, _)| std::fs::read_to_string(path).ok()).unwrap_or_default();
        let file: toml::Table = text.parse().unwrap_or_default();
        let mut data = file.get("data").and_then(toml::Value::as_str).map_or_else(|| "data".into(), PathBuf::from);
        let swap = file.get("swap").and_then(|swap| swap.get("allow_breaking_migration"));
        let mut allow_breaking = swap.and_then(toml::Value::as_bool).unwrap_or(false);
        let mut rest = self.rest.iter().map(|argument| argument.to_string_lossy());
        while let Some(argument) = rest.next() {
            match &*argument {
                "--data" => data = rest.next().map_or(data, |folder| PathBuf::from(&*folder)),
                "--allow-breaking-migration" => allow_breaking = true,
                argument => data = argument.strip_prefix("--data=").map_or(data, PathBuf::from),
            }
        }
        (data, allow_breaking)
    }

    /// The server's file of settings: the one that was named, or else `skep.toml` if it is there.
    fn settings_file(&self) -> Option<(PathBuf, bool)> {
        let mut named = None;
        let mut rest = self.rest.iter();
        while let Some(argument) = rest.next() {
            match argument.to_str().and_then(|text| text.strip_prefix("--config")) {
                Some("") => named = rest.next().map(PathBuf::from),
                Some(value) => named = value.strip_prefix('=').map(PathBuf::from),
                None => {}
            }
        }
        let usual = || Some((PathBuf::from("skep.toml"), false)).filter(|(path, _)| path.exists());
        named.map(|path| (path, true)).or_else(usual)
    }
}

impl Settings {
    /// Understands a command line.
    pub(crate) fn read(arguments: Vec<OsString>) -> Result<Self, Wrong> {
        let line = Line::read(arguments)?;
        line.is_spelt_right()?;
        let status = line.other("--status").map(ToOwned::to_owned);
        if status.as_ref().is_some_and(|path| !path.starts_with('/')) {
            return Err(Wrong::with("--status: expected a path, such as /-/isolate"));
        }
        let mut applications = match &line.file {
            Some(file) => vec![one(file)],
            None => match line.settings_file() {
                Some((path, _)) => of_file(&path)?,
                None => Vec::new(),
            },
        };
        if applications.is_empty() && !line.asks_a_server() {
            let is_component = |word: &&OsString| word.to_string_lossy().ends_with("wasm");
            if let Some(file) = line.rest.iter().find(is_component).map(|file| file.to_string_lossy()) {
                return Err(Wrong(format!("the component comes first: `skep serve {file}`, and then the flags")));
            }
            return Err(Wrong::with(
                "there is nothing to serve: name a component, `skep serve app.wasm`, or say in skep.toml\n[isolate.app]\nfile = \"app.wasm\"",
            ));
        }
        applications.iter_mut().try_for_each(|options| line.apply(options))?;
        fit(&applications)?;
        let (data, allow_breaking) = line.of_server();
        Ok(Self { applications, compile_cache: line.cache(), status, data, allow_breaking, rest: line.rest })
    }
}

/// What would otherwise be ignored without a word.
fn fit(applications: &[Options]) -> Result<(), Wrong> {
    let together: u32 = applications.iter().map(|one| one.instances).sum();
    if together > MOST_INSTANCES {
        return Err(Wrong(format!(
            "all applications together may have {together} instances at once, and a process has room for {MOST_INSTANCES}; \
             say a smaller `instances`"
        )));
    }
    Ok(())
}

/// The application of a file that was named alone.
pub(crate) fn one(file: &Path) -> Options {
    let name = file.file_stem().unwrap_or_else(|| OsStr::new("app")).to_string_lossy().into_owned();
    Options { name, file: file.to_owned(), ..Options::default() }
}

/// The applications of `skep.toml`.
fn of_file(path: &Path) -> Result<Vec<Options>, Wrong> {
    let wrong = |text: String| Wrong(format!("{}: {text}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let file: toml::Table = text.parse().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
    let Some(tables) = file.get("isolate") else { return Ok(Vec::new()) };
    let tables = tables.as_table().ok_or_else(|| wrong("isolate is no table; write [isolate.NAME]".into()))?;
    // Many applications have room for fewer instances each, if nobody says otherwise.
    let room = MOST_INSTANCES / u32::try_from(tables.len()).unwrap_or(u32::MAX).max(1);
    let usual = Options::default();
    let usual = Options { instances: usual.instances.min(room.max(1)), ..usual };
    tables.iter().map(|(name, said)| of_table(path, name, said, &usual).map_err(&wrong)).collect()
}

fn of_table(path: &Path, name: &str, said: &toml::Value, usual: &Options) -> Result<Options, String> {
    let said = said.as_table().ok_or_else(|| format!("isolate.{name} is no table; write [isolate.NAME]"))?;
    let mut options = Options { name: name.to_owned(), ..usual.clone() };
    for (key, value) in said {
        if key == "file" {
            let file =
                value.as_str().ok_or_else(|| format!("isolate.{name}.file: expected the path of a component"))?;
            // Beside the settings, wherever the server was started.
            options.file = path.parent().unwrap_or_else(|| Path::new("")).join(file);
            continue;
        }
        let Some(row) = TABLE.iter().find(|row| row.name == key) else {
            let names = TABLE.iter().map(|row| row.name).chain(["file"]);
            let hint = nearest(key, names).map_or_else(String::new, |meant| format!("; did you mean {meant}?"));
            return Err(format!("there is no setting \"isolate.{name}.{key}\"{hint}"));
        };
        for text in texts(row, value).ok_or_else(|| format!("isolate.{name}.{key}: expected {}", row.argument))? {
            options.set(row, &text).map_err(|right| format!("isolate.{name}.{key} = \"{text}\": {right}"))?;
        }
    }
    if options.file.as_os_str().is_empty() {
        return Err(format!("isolate.{name} has no `file`"));
    }
    Ok(options)
}

/// What a value of the file says, as flags would.
fn texts(row: &Row, value: &toml::Value) -> Option<Vec<String>> {
    let one = |value: &toml::Value| match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(on) => Some(on.to_string()),
        _ => None,
    };
    match value {
        toml::Value::Array(list) if row.repeats => list.iter().map(one).collect(),
        // env = { NAME = "value" }, files = { "/static" = "public" }
        toml::Value::Table(table) if row.repeats => {
            table.iter().map(|(name, value)| Some(format!("{name}={}", one(value)?))).collect()
        }
        other => one(other).map(|text| vec![text]),
    }
}

impl Cache {
    /// Opens it. The usual one need not be usable; one that was named must be.
    pub(crate) fn open(&self) -> Result<Option<Disk>, Wrong> {
        match self {
            Self::None => Ok(None),
            Self::At(folder) => Disk::open(folder).map(Some),
            Self::Usual => {
                let Some(folder) = Disk::usual() else { return Ok(None) };
                match Disk::open(&folder) {
                    Ok(disk) => Ok(Some(disk)),
                    Err(wrong) => {
                        tracing::warn!(target: "skep::isolate", "each start compiles anew: {wrong}");
                        Ok(None)
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Settings, String> {
        Settings::read(arguments.iter().map(Into::into).collect()).map_err(|wrong| wrong.0)
    }

    fn toml(text: &str) -> Result<Vec<Options>, String> {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("skep.toml");
        std::fs::write(&path, text).unwrap();
        let prefix = format!("{}: ", path.display());
        of_file(&path).map_err(|wrong| wrong.0.strip_prefix(&prefix).unwrap_or(&wrong.0).to_owned())
    }

    #[test]
    fn our_flags_are_taken_and_the_servers_are_left() {
        let settings = read(&[
            "shop.wasm",
            "--listen",
            ":1",
            "--memory",
            "1MiB",
            "--env=A=b=c",
            "--check",
            "--compile-cache",
            "none",
        ]);
        let settings = settings.unwrap();
        assert_eq!(settings.rest, ["--listen", ":1", "--check"]);
        assert_eq!((settings.data.as_path(), settings.allow_breaking), (Path::new("data"), false));
        let other = read(&["shop.wasm", "--data", "kept", "--allow-breaking-migration"]).unwrap();
        assert_eq!(other.rest, ["--data", "kept", "--allow-breaking-migration"], "the server's own");
        assert_eq!((other.data.as_path(), other.allow_breaking), (Path::new("kept"), true));
        let [shop] = settings.applications.as_slice() else { panic!("one application") };
        assert_eq!((shop.name.as_str(), shop.memory), ("shop", 1 << 20));
        assert_eq!(shop.env, [("A".to_owned(), "b=c".to_owned())]);
        assert_eq!(settings.compile_cache, Cache::None);
    }

    #[test]
    fn a_wrong_flag_is_told_what_would_be_right() {
        assert_eq!(
            read(&["a.wasm", "--time", "30"]).unwrap_err(),
            "--time 30: expected a time, such as 500ms, 30s or 5m"
        );
        for (wrong, right) in
            [("--module-cach", "--module-cache"), ("--instanses=3", "--instances"), ("--stats", "--status")]
        {
            let told = read(&["a.wasm", "--listen", ":1", wrong]).unwrap_err();
            let flag = wrong.split('=').next().unwrap();
            assert_eq!(told, format!("there is no flag {flag}; did you mean {right}?"));
        }
        let of_server = read(&["a.wasm", "--lisen", ":1", "--set", "--stats"]).unwrap();
        assert_eq!(
            of_server.rest,
            ["--lisen", ":1", "--set", "--stats"],
            "the server says it, and values are not flags"
        );
        assert_eq!(read(&["a.wasm", "--memory"]).unwrap_err(), "--memory needs a value; --help says which");
        assert_eq!(read(&["a.wasm", "--status", "x"]).unwrap_err(), "--status: expected a path, such as /-/isolate");
        assert!(read(&["--config", "no-such-file.toml"]).unwrap_err().contains("no-such-file.toml: cannot be read"));
    }

    #[test]
    fn more_instances_than_there_is_room_for_are_refused() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("skep.toml");
        let table = |nth: u32, more: &str| format!("[isolate.a{nth}]\nfile = \"a.wasm\"\n{more}\n");
        std::fs::write(&path, [table(1, "instances = 6000"), table(2, "instances = 6000")].concat()).unwrap();
        let error = read(&["--config", path.to_str().unwrap()]).unwrap_err();
        assert!(error.starts_with("all applications together may have 12000 instances at once"), "{error}");
        std::fs::write(&path, (0..40).map(|nth| table(nth, "")).collect::<String>()).unwrap();
        let settings = read(&["--config", path.to_str().unwrap()]).unwrap();
        assert_eq!(settings.applications[7].instances, 250, "unless said, there is room for all");
    }

    #[test]
    fn each_table_is_an_application() {
        let text = "workers = 2\n[isolate.shop]\nfile = \"shop.wasm\"\nprefix = \"/shop\"\nmemory = \"8MiB\"\ninstances = 10\n\
                    env = { A = \"1\", B = 2 }\n[isolate.blog]\nfile = \"/srv/blog.wasm\"\nhost = [\"a.org\", \"b.org\"]\nwatch = false";
        let mut applications = toml(text).unwrap();
        applications.sort_by(|one, other| one.name.cmp(&other.name));
        let [blog, shop] = applications.as_slice() else { panic!("two applications") };
        assert!(shop.file.is_absolute() && shop.file.ends_with("shop.wasm"));
        assert_eq!((shop.prefix.as_str(), shop.memory, shop.instances), ("/shop", 8 << 20, 10));
        assert_eq!(shop.env, [("A".to_owned(), "1".to_owned()), ("B".to_owned(), "2".to_owned())]);
        assert_eq!((blog.file.as_path(), blog.watch), (Path::new("/srv/blog.wasm"), false));
        assert_eq!(blog.hosts, ["a.org", "b.org"]);
        assert!(toml("workers = 2").unwrap().is_empty());
    }

    #[test]
    fn a_wrong_table_is_told_what_would_be_right() {
        assert_eq!(toml("isolate = 1").unwrap_err(), "isolate is no table; write [isolate.NAME]");
        assert_eq!(toml("[isolate.a]").unwrap_err(), "isolate.a has no `file`");
        assert_eq!(
            toml("[isolate.a]\nfile = \"a\"\nmemmory = 1").unwrap_err(),
            "there is no setting \"isolate.a.memmory\"; did you mean memory?"
        );
        assert_eq!(
            toml("[isolate.a]\nfile = \"a\"\ntime = 30").unwrap_err(),
            "isolate.a.time = \"30\": expected a time, such as 500ms, 30s or 5m"
        );
        assert_eq!(toml("[isolate.a]\nfile = \"a\"\ntime = [\"1s\"]").unwrap_err(), "isolate.a.time: expected TIME");
    }
}
