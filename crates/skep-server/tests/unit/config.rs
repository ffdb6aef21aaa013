//! Which source wins, and what an invalid setting says.

use std::time::Duration;

use skep::settings::{Kind, RawValue, Row};

use super::*;

const HELPDESK: &str = "helpdesk.smtp";

fn row(name: &'static str) -> Row {
    Row {
        name: name.into(),
        kind: Kind::Text,
        default: "".into(),
        is_required: false,
        is_secret: name.ends_with("key"),
        flag: None,
        help: "The mail server.".into(),
    }
}

fn read(file: &str, variables: &[(&str, &str)], flags: &[&str], fixed: &[(&str, &str)]) -> Result<Settings, String> {
    read_with(file, variables, flags, fixed, Some(&[]))
}

fn read_with(
    file: &str,
    variables: &[(&str, &str)],
    flags: &[&str],
    fixed: &[(&str, &str)],
    application: Option<&[Row]>,
) -> Result<Settings, String> {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("skep-settings-{}-{number}.toml", std::process::id()));
    std::fs::write(&path, file).unwrap();
    let text = |error: StartError| error.to_string().replace(&path.display().to_string(), "skep.toml");
    let flags = Flags::parse(flags.iter().map(Into::into), &table(&[])).map_err(text);
    let fix = |(name, value): &(&str, &str)| RawSetting {
        name: (*name).into(),
        value: RawValue::Text((*value).into()),
        source: Source::Fixed,
    };
    let fixed = fixed.iter().map(fix).collect();
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let sources = Sources { variables, file: Some(path.clone()), ignored_tables: vec!["legacy"] };
    let settings =
        flags.and_then(|flags| Reading { flags, fixed, sources, rows: Vec::new() }.read(application).map_err(text));
    std::fs::remove_file(&path).unwrap();
    settings
}

fn of(settings: &Settings, name: &str) -> (String, String) {
    let resolved = settings.values.get(name).unwrap();
    let source = match &resolved.source {
        Source::File { line, .. } => format!("skep.toml:{line}"),
        source => source.to_string(),
    };
    (resolved.value.to_string(), source)
}

fn pair(value: &str, from: &str) -> (String, String) {
    (value.to_owned(), from.to_owned())
}

#[test]
fn a_later_source_wins() {
    let file = "workers = 1\ngrace = \"1s\"\n[limits]\nbody = 100\nurl = \"1KiB\"\n";
    let variables = [("SKEP_LIMITS_BODY", "200B"), ("SKEP_GRACE", "2s"), ("HOME", "/")];
    let settings = read(file, &variables, &["--set", "grace=3s"], &[("workers", "4")]).unwrap();
    assert_eq!(of(&settings, "limits.url"), pair("1KiB", "skep.toml:5"));
    assert_eq!(of(&settings, "limits.body"), pair("200B", "SKEP_LIMITS_BODY"));
    assert_eq!(of(&settings, "grace"), pair("3s", "--set"));
    assert_eq!(of(&settings, "workers"), pair("4", "fixed by the program"));
    assert_eq!(of(&settings, "limits.header_fields"), pair("100", "default"));
    assert_eq!(settings.config.grace, Duration::from_secs(3));
}

#[test]
fn flags_replace_a_list_and_add_to_their_own() {
    let file = "listen = [\"127.0.0.1:1\", \"127.0.0.1:2\"]";
    assert_eq!(of(&read(file, &[], &[], &[]).unwrap(), "listen").0, "127.0.0.1:1; 127.0.0.1:2");
    let settings = read(file, &[], &["--listen", ":3", "--listen=:4"], &[]).unwrap();
    assert_eq!(of(&settings, "listen"), pair(":3; :4", "--listen"));
    let settings = read(file, &[("SKEP_LISTEN", "127.0.0.1:5; 127.0.0.1:6")], &[], &[]).unwrap();
    assert_eq!(settings.config.listen.len(), 2);
}

const KEYS: &str = "secret = \"/etc/shop/secret\"\n";

#[cfg(feature = "redis")]
#[test]
fn one_block_switches_all_that_machines_share() {
    let cluster = "[cluster]\ndata = \"postgres://db/shop\"\nshared = \"redis://cache1 timeout=1s\"\n";
    let own = "[cache.pages]\ntiers = [\"memory:1MiB\", \"memcached:m1\"]\n[cache.drafts]\ntiers = [\"null\"]\n";
    let own = if cfg!(feature = "memcached") { own } else { "" };
    let config = read(&format!("{KEYS}{cluster}{own}"), &[], &[], &[]).unwrap().config;
    assert_eq!(config.app.database.map(|address| address.reveal().clone()).as_deref(), Some("postgres://db/shop"));
    assert!(config.app.cluster);
    for name in ["default", "sessions", "skep-limits", "skep-mails", "skep-sign-in"] {
        let needs = config.caches.iter().find(|(of, _)| *of == name).unwrap().1.tiers.needs();
        assert!(needs.runtime, "{name}");
    }
    assert!(!read("", &[], &[], &[]).unwrap().config.app.cluster);
}

#[cfg(feature = "redis")]
#[test]
fn what_stays_on_one_machine_is_named() {
    let wrong = |file: &str| read(file, &[], &[], &[]).map(drop).unwrap_err();
    let cluster = |data: &str, shared: &str| format!("[cluster]\ndata = \"{data}\"\nshared = \"{shared}\"\n");
    let right = cluster("postgres://db/shop", "redis://cache1");
    let all = format!(
        "database = \"postgres://other/shop\"\n{right}[cache.pages]\ntiers = [\"memory:1MiB\"]\n[databases.archive]\naddress = \"\"\n"
    );
    assert_eq!(
        wrong(&all),
        "skep.toml:1: database is another database than cluster.data: remove it\n\
         skep.toml:3: cluster.data needs the setting secret, or secret_keys: the keys in the data directory are of one machine\n\
         skep.toml:8: databases.archive.address is empty: a file of SQLite is of one machine\n\
         skep.toml:6: cache.pages.tiers is of one machine: end it with redis:HOST or memcached:HOST, or remove it, which is cluster.shared"
    );
    let one = |data: &str, shared: &str| wrong(&format!("{KEYS}{}", cluster(data, shared)));
    assert!(one("data/shop.sqlite", "redis://cache1").contains("expected the address of a PostgreSQL database"));
    assert!(one("postgres://db/shop", "memory:1MiB").contains("cluster.shared: expected the address of a Redis"));
    assert!(one("postgres://db/shop", "rdis://cache1").contains("cluster.shared: "));
    assert!(one("postgres://db/shop", "").contains("cluster.data needs the setting cluster.shared"));
    assert!(one("", "redis://cache1").contains("cluster.shared needs the setting cluster.data"));
}

#[test]
fn a_unix_socket_has_permissions_and_a_group() {
    let address = |said: &str, trusted: &str| {
        let file = format!("listen = [{said:?}]\n[proxies]\ntrusted = [{trusted}]");
        read(&file, &[], &[], &[]).map(|settings| settings.config.listen[0].unix().unwrap().clone())
    };
    for (said, trusted, path, mode, group) in [
        ("unix:/run/a.sock", "", "/run/a.sock", 0o666, None),
        ("unix:/run/a.sock", "\"unix\"", "/run/a.sock", 0o660, None),
        ("unix:/run/a.sock", "\"127.0.0.1\"", "/run/a.sock", 0o666, None),
        ("unix:/run/a.sock mode=0660 group=www-data", "", "/run/a.sock", 0o660, Some("www-data")),
        ("unix:/run/a.sock  group=33\tmode=777 ", "\"unix\"", "/run/a.sock", 0o777, Some("33")),
        ("unix:/run/my app.sock mode=0600", "", "/run/my app.sock", 0o600, None),
        ("unix:/run/a b=c/d.sock", "", "/run/a b=c/d.sock", 0o666, None),
    ] {
        let found = address(said, trusted).unwrap();
        assert_eq!((found.path.to_str().unwrap(), found.mode(), found.group.as_deref()), (path, mode, group), "{said}");
    }
    for said in [
        "unix:/a mode=",
        "unix:/a mode=66",
        "unix:/a mode=0888",
        "unix:/a mode=1777",
        "unix:/a mode=rw-rw-rw-",
        "unix:/a mode=0660 mode=0666",
        "unix:/a group=",
        "unix:/a owner=www-data",
        "unix: mode=0660",
        "127.0.0.1:80 mode=0660",
    ] {
        let problem = address(said, "").unwrap_err();
        assert!(problem.starts_with("skep.toml:1: listen = "), "{problem}");
    }
    let file = "[status]\nlisten = \"unix:/run/s.sock\"";
    let status = read(file, &[], &[], &[]).unwrap().config.status.listen.0.unwrap();
    assert_eq!(status.unix().unwrap().mode(), 0o600);
}

#[test]
fn an_unknown_key_is_refused_with_its_line_and_the_nearest_name() {
    let problem = read("\n[limits]\nbdoy = 1\n", &[], &[], &[]).unwrap_err();
    assert_eq!(problem, "skep.toml:3: there is no setting \"limits.bdoy\"; did you mean limits.body?");
    let problem = read("", &[("SKEP_WORKER", "1")], &[], &[]).unwrap_err();
    assert_eq!(problem, "SKEP_WORKER: there is no such setting; did you mean SKEP_WORKERS?");
    let problem = read("", &[], &["--set", "log.acces=false"], &[]).unwrap_err();
    assert_eq!(problem, "--set: there is no setting \"log.acces\"; did you mean log.access?");
    assert!(read("[legacy]\nanything = 1\n", &[], &[], &[]).is_ok(), "a table that something else reads");
    assert!(read("[legacies]\nanything = 1\n", &[], &[], &[]).is_err());
}

#[test]
fn an_invalid_value_is_refused_with_what_is_expected() {
    let problem = read("grace = 10\n[log]\naccess = \"yes\"", &[], &[], &[]).unwrap_err();
    assert_eq!(
        problem,
        "skep.toml:1: grace = \"10\": expected a duration from 0 to 1d, such as 500ms, 30s, 5m\n\
         skep.toml:3: log.access = \"yes\": expected true or false"
    );
    let problem = read("", &[], &["--mpm", "isolate"], &[]).unwrap_err();
    assert_eq!(problem, "--mpm: mpm = \"isolate\": expected one of thread, prefork");
    let problem = read("probe = \"nope\"", &[], &[], &[]).unwrap_err();
    assert_eq!(problem, "skep.toml:1: probe = \"nope\": expected a path, such as / or /health");
}

#[test]
fn each_cache_has_tiers_of_its_own() {
    let file = "[cache.pages]\ntiers = [\"memory:1MiB\", \"null\"]\n";
    let variables = [("SKEP_CACHE_RATES_TIERS", "memory:1MiB; shared:2MiB")];
    let settings = read(file, &variables, &["--set", "cache.default.tiers=null"], &[]).unwrap();
    assert_eq!(of(&settings, "cache.pages.tiers").0, "memory:1MiB; null");
    assert_eq!(of(&settings, "cache.rates.tiers").0, "memory:1MiB; shared:2MiB");
    assert_eq!(settings.config.tiers().count(), 3);
    let problem = read("[cache.Pages]\ntiers = \"null\"", &[], &[], &[]).unwrap_err();
    assert!(problem.starts_with("skep.toml:2: there is no setting \"cache.Pages.tiers\""), "{problem}");
    let problem = read("[cache.pages]\ntiers = []", &[], &[], &[]).unwrap_err();
    assert!(problem.starts_with("skep.toml:2: cache.pages.tiers = \"\": expected one to three tiers"), "{problem}");
}

#[test]
fn databases_have_names_and_a_replica_has_its_original() {
    let file = "database = \"postgres:///shop\"\n[databases.counters]\naddress = \"postgres:///counters\"\n";
    let variables = [("SKEP_DATABASE_REPLICA", "postgres:///shop?host=other"), ("SKEP_DATABASES_VISITS_ADDRESS", "")];
    let config = read(file, &variables, &[], &[]).unwrap().config;
    assert_eq!(config.database_addresses()["counters"].reveal(), "postgres:///counters");
    assert_eq!(config.database_addresses().len(), 1, "an empty address names no database");
    assert_eq!(config.database_replica.unwrap().reveal(), "postgres:///shop?host=other");
    let problem = read("database_replica = \"postgres:///secret\"", &[], &[], &[]).unwrap_err();
    assert_eq!(problem, "skep.toml:1: database_replica needs the setting database: the PostgreSQL that it replicates");
}

#[test]
fn a_broken_file_is_refused_with_its_line() {
    let problem = read("workers = 1\ngrace = 1 2\n", &[], &[], &[]).unwrap_err();
    assert!(problem.starts_with("skep.toml:2: "), "{problem}");
    let problem = |file: &str| read(file, &[], &[], &[]).unwrap_err();
    let rest = "has no value: write one after the =, or remove the line; the default is";
    assert_eq!(problem("workers = 1\ngrace = \n"), format!("skep.toml:2: grace {rest} \"10s\""));
    assert_eq!(problem("[log]\nlevel = # low\n"), format!("skep.toml:2: log.level {rest} \"info\""));
}

#[test]
fn settings_of_an_application_come_from_all_sources() {
    let rows = [row(HELPDESK), row("helpdesk.key")];
    let read =
        |file: &str, variables: &[(&str, &str)], flags: &[&str]| read_with(file, variables, flags, &[], Some(&rows));
    let file = "[helpdesk]\nsmtp = \"a\"\nkey = \"k\"\n";
    assert_eq!(of(&read(file, &[], &[]).unwrap(), HELPDESK), pair("a", "skep.toml:2"));
    let variables = [("SKEP_HELPDESK_SMTP", "b")];
    assert_eq!(of(&read(file, &variables, &[]).unwrap(), HELPDESK), pair("b", "SKEP_HELPDESK_SMTP"));
    let settings = read(file, &variables, &["--set", "helpdesk.smtp=c"]).unwrap();
    assert_eq!(of(&settings, HELPDESK), pair("c", "--set"));
    assert_eq!(settings.application.len(), 4, "only the application's");
    let printed = print(&settings.values);
    assert!(printed.contains("helpdesk.key") && printed.contains("***") && !printed.contains("= k"), "{printed}");
    let problem = read("[helpdesk]\nsmpt = \"a\"\n", &[], &[]).unwrap_err();
    assert_eq!(problem, "skep.toml:2: there is no setting \"helpdesk.smpt\"; did you mean helpdesk.smtp?");
}

#[test]
fn a_supervisor_does_not_judge_settings_of_the_application() {
    let read = |file: &str, variables: &[(&str, &str)]| read_with(file, variables, &[], &[], None);
    assert!(read("[helpdesk]\nsmtp = \"a\"\n", &[("SKEP_HELPDESK_SMTP", "b")]).is_ok());
    assert!(read("[limits]\nbdoy = 1\n", &[]).is_err());
    assert!(read("wrokers = 1\n", &[]).is_err());
}

#[test]
fn each_row_is_a_field_whose_default_is_that_of_the_row() {
    let config = read("", &[], &[], &[]).unwrap().config;
    // The defaults of tests are others: `Setup::default`.
    let mut expected = Config::default();
    (expected.app.data, expected.app.notices) = ("data".into(), true);
    expected.app.compression = skep::compression::Options::default();
    assert_eq!(format!("{config:?}"), format!("{expected:?}"));
    let (values, problems) = table(&[]).resolve(Vec::new());
    assert_eq!(problems, [""; 0]);
    let mut config = Config::default();
    for resolved in values.iter() {
        assert_eq!(config.set(&resolved.name, &resolved.value), Some(Ok(())), "{resolved:?}");
    }
    let mut names: Vec<_> = table(&[]).rows().iter().map(|row| row.name.clone()).collect();
    names.sort();
    assert!(names.windows(2).all(|two| two[0] != two[1]), "a setting has one row: {names:?}");
}

#[test]
fn the_reference_page_has_each_row() {
    let page = include_str!("../../../../docs/reference/configuration.md");
    let reference = reference(&[]);
    let is_missing = |section: &&str| !page.contains(section.trim_end());
    let missing: Vec<_> = reference.split("\n### ").skip(1).filter(is_missing).collect();
    assert!(missing.is_empty(), "cargo run -p skep-isolate --example configuration: {missing:#?}");
}

#[test]
fn a_secret_that_is_refused_is_not_shown() {
    let file = "[otlp]\nheaders = [\"hush\"]\n[access.office]\nprefix = \"/\"\nheaders = [\"hush hush\"]\n";
    let problem = read(file, &[], &[], &[]).unwrap_err();
    assert!(
        problem.contains("otlp.headers = \"***\"") && problem.contains("access.office.headers = \"***\""),
        "{problem}"
    );
    assert!(!problem.contains("hush"), "{problem}");
}

#[test]
fn an_application_cannot_take_a_table_of_the_server() {
    let problem = read_with("", &[], &[], &[], Some(&[row("log.colour")])).unwrap_err();
    assert!(problem.starts_with("the table \"log\" is the server's"), "{problem}");
}

/// Whatever is read later, from a text: what is wrong with it is known before anything uses it.
#[test]
fn a_setting_that_would_fail_in_use_fails_when_it_is_read() {
    const SMTP: (&str, &str) = ("mail.smtp", "smtp://127.0.0.1:9");
    let wrong: &[&[(&str, &str)]] = &[
        &[SMTP],
        &[SMTP, ("mail.timeout", "15s")],
        &[SMTP, ("mail.from", "nonsense")],
        &[SMTP, ("mail.from", "")],
        &[("mail.from", "nonsense")],
        &[("mail.from", "Müller, \"Q\" <shop@example.org>")],
        &[("mail.from", "a@example.org, b@example.org")],
        &[("mail.from", "shop@exa mple.org")],
        &[("mail.from", "müller@example.org")],
        &[("mail.from", "Shop <shop@example.org")],
        &[("mail.from", "shop@example.org\nBcc: all@example.org")],
        &[("base_url", "example.org")],
        &[("base_url", "https://example.org/path")],
        &[("hosts", "https://example.org")],
        &[("hosts", "exa mple.org")],
        &[("fetch.allow", "https://api.example.org/x")],
        &[("fetch.allow", "api.example.org:port")],
        &[("proxies.trusted", "10.0.0.0/33")],
        &[("proxies.trusted", "proxy")],
        &[("access.office.prefix", "/admin"), ("access.office.allow", "10.0.0.0/33")],
        &[("access.office.prefix", "/admin"), ("access.office.headers", "no-value")],
        &[("access.office.users", "ann"), ("access.office.prefix", "admin")],
        &[("otlp.endpoint", "localhost")],
        &[("otlp.headers", "no-value")],
        &[("status.listen", "0.0.0.0:80")],
        &[("listen", "127.0.0.1:port")],
        &[("log.outputs", "nowhere")],
        &[("log.access_outputs", "nowhere")],
        &[("log.outputs", "otlp")],
        &[("cache.pages.tiers", "memory:much")],
        &[("cache.pages.tiers", "redis:")],
        &[("database_replica", "postgres://u:p@h/n")],
        &[("probe", "live")],
        &[("probe", "/a b")],
        &[("probe", "/\u{e9}")],
        &[("compression.codings", "lzw")],
    ];
    for settings in wrong {
        let refused = read("", &[], &[], settings).map(|_| ()).expect_err(&format!("{settings:?}"));
        let (name, _) = settings[settings.len() - 1];
        assert!(refused.contains(name) || refused.contains("mail.from"), "{settings:?}: {refused}");
    }
    let right: &[&[(&str, &str)]] = &[
        &[],
        &[("mail.from", "shop@example.org")],
        &[SMTP, ("mail.from", "\"Müller, \\\"Q\\\"\" <shop@example.org>")],
        &[("probe", "/a?b=%20c")],
    ];
    for settings in right {
        read("", &[], &[], settings).unwrap_or_else(|error| panic!("{settings:?}: {error}"));
    }
}
