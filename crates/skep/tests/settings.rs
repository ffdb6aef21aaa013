//! Settings that an application declares.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use skep::prelude::*;
use skep::settings::section;
use skep::settings::{
    Address, ByteSize, Kind, RawSetting, RawValue, Row, Settings, Source, Table, Value, decode, encode,
};
use skep::test::Client;
use skep::{Setup, StartError};

/// A level, as a crate has it: by `FromStr` only.
#[derive(Debug, PartialEq, Eq)]
enum Level {
    Low,
    High,
}

impl std::str::FromStr for Level {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text {
            "low" => Ok(Self::Low),
            "high" => Ok(Self::High),
            _ => Err("expected low or high"),
        }
    }
}

#[derive(Debug, Settings)]
#[settings(table = "helpdesk")]
struct Helpdesk {
    /// The mail server.
    smtp: Address,
    /// The password of the mail server. Ask the administrator.
    #[setting(secret)]
    password: Option<String>,
    /// How long a ticket stays open without a reply.
    #[setting(default = "14d")]
    close_after: Duration,
    /// Maximum size of an attachment.
    #[setting(default = "2MiB")]
    attachment: ByteSize,
    /// Number of tickets on a page.
    #[setting(default = 20)]
    page: u16,
    /// Show closed tickets.
    closed: bool,
    /// Who gets a copy of each mail.
    copies: Vec<String>,
    /// Where attachments are scanned.
    scanner: Option<SocketAddr>,
    /// The folder of attachments.
    #[setting(default = "attachments")]
    folder: PathBuf,
    /// The least priority that is mailed.
    #[setting(from_str, default = "low")]
    priority: Level,
    /// The priority that rings.
    #[setting(from_str)]
    alarm: Option<Level>,
    #[setting(nested)]
    opening: Opening,
}

#[derive(Debug, Settings)]
struct Opening {
    /// The first hour.
    #[setting(default = 9)]
    from: u8,
    /// The last hour.
    #[setting(default = 17)]
    to: u8,
    /// Hours east of Greenwich.
    #[setting(default = -4)]
    zone: i8,
}

#[derive(Service)]
#[service(GET "/")]
struct Index;

impl Handle for Index {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let settings = cx.settings::<Helpdesk>();
        Ok(Response::text(format!("{} {}", settings.smtp, settings.page)))
    }
}

fn app() -> App {
    App::new().settings::<Helpdesk>().serve(services![Index])
}

fn raw(name: &str, value: &str) -> RawSetting {
    let source = Source::File { path: "skep.toml".into(), line: 7 };
    RawSetting { name: name.into(), value: RawValue::Text(value.into()), source }
}

/// Gives the settings that `on_start` sees.
fn open(settings: &[(&str, &str)], check: impl FnOnce(&Helpdesk) + Send + 'static) -> Result<(), StartError> {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    setup.settings = settings.iter().map(|(name, value)| raw(name, value)).collect();
    let app = app().on_start(move |site| {
        check(site.settings::<Helpdesk>());
        Ok(())
    });
    app.open(setup).map(drop)
}

fn problem(settings: &[(&str, &str)]) -> String {
    open(settings, |_| ()).unwrap_err().to_string()
}

#[test]
fn a_handler_reads_settings() {
    let client = Client::with_settings(app(), &[("helpdesk.smtp", "mail:25"), ("helpdesk.page", "50")]);
    assert_eq!(client.get("/").text(), "mail:25 50");
}

#[test]
fn what_is_not_set_has_its_default() {
    open(&[("helpdesk.smtp", "unix:/run/mail")], |settings| {
        assert_eq!(settings.smtp, Address::Unix("/run/mail".into()));
        assert_eq!((settings.close_after, settings.attachment), (Duration::from_hours(336), ByteSize(2 << 20)));
        assert!(settings.password.is_none() && settings.scanner.is_none() && settings.copies.is_empty());
        assert_eq!((settings.closed, settings.folder.to_str()), (false, Some("attachments")));
        assert_eq!((&settings.priority, &settings.alarm), (&Level::Low, &None));
        assert_eq!((settings.opening.from, settings.opening.to, settings.opening.zone), (9, 17, -4));
    })
    .unwrap();
}

#[test]
fn every_type_is_read() {
    let set = [
        ("helpdesk.smtp", "mail.example.org:587"),
        ("helpdesk.password", "secret"),
        ("helpdesk.copies", "a@b.org; c@d.org"),
        ("helpdesk.scanner", "127.0.0.1:3310"),
        ("helpdesk.closed", "true"),
        ("helpdesk.alarm", "high"),
        ("helpdesk.opening.to", "20"),
    ];
    open(&set, |settings| {
        assert_eq!(settings.password.as_deref(), Some("secret"));
        assert_eq!(settings.copies, ["a@b.org", "c@d.org"]);
        assert_eq!(settings.scanner, Some(([127, 0, 0, 1], 3310).into()));
        assert_eq!((settings.closed, &settings.alarm), (true, &Some(Level::High)));
        assert_eq!(settings.opening.to, 20);
    })
    .unwrap();
}

#[test]
fn a_missing_setting_names_what_sets_it() {
    assert_eq!(
        problem(&[]),
        "the setting helpdesk.smtp is missing: The mail server. Set it in skep.toml ([helpdesk] smtp = \"...\"), with \
         SKEP_HELPDESK_SMTP=..., or with --set helpdesk.smtp=..."
    );
}

#[test]
fn a_misspelt_setting_is_refused_with_the_nearest_name() {
    let problem = problem(&[("helpdesk.smtp", "mail:25"), ("helpdesk.smpt", "mail:25")]);
    assert_eq!(problem, "skep.toml:7: there is no setting \"helpdesk.smpt\"; did you mean helpdesk.smtp?");
}

#[test]
fn an_invalid_value_names_its_line() {
    let told = |name: &str, value: &str| problem(&[("helpdesk.smtp", "mail:25"), (name, value)]);
    assert_eq!(
        told("helpdesk.page", "many"),
        "skep.toml:7: helpdesk.page = \"many\": expected a number from 0 to 65535"
    );
    assert_eq!(told("helpdesk.priority", "mid"), "skep.toml:7: helpdesk.priority = \"mid\": expected low or high");
    assert!(told("helpdesk.close_after", "5m x").contains("expected a duration, such as 500ms, 30s, 5m"));
    assert!(problem(&[("helpdesk.smtp", "25")]).contains("expected an address"));
    assert!(told("helpdesk.opening.from", "300").contains("expected a number from 0 to 255"));
}

#[test]
fn rows_describe_settings_for_help_and_reference() {
    let rows = app().setting_rows();
    let row = |name: &str| rows.iter().find(|row| row.name == name).unwrap();
    assert!(row("helpdesk.smtp").is_required && !row("helpdesk.page").is_required);
    assert!(row("helpdesk.password").is_secret && !row("helpdesk.password").is_required);
    assert_eq!(row("helpdesk.password").help, "The password of the mail server. Ask the administrator.");
    assert_eq!((&*row("helpdesk.closed").default, &*row("helpdesk.opening.to").default), ("false", "17"));
    assert!(matches!(row("helpdesk.attachment").kind, Kind::Size(_)));
}

#[test]
fn a_table_has_one_struct() {
    let error = App::new().settings::<Helpdesk>().settings::<Helpdesk>().open(Setup::default()).unwrap_err();
    assert!(error.to_string().contains("two structs of settings have the table \"helpdesk\""), "{error}");
}

#[test]
fn settings_arrive_as_they_were_sent() {
    let setting = |value| RawSetting {
        name: "shop.key".into(),
        value,
        source: Source::File { path: "skep.toml".into(), line: 7 },
    };
    let values = [RawValue::Text("a; b\n".into()), RawValue::Text(String::new()), RawValue::List(vec!["a".into()])];
    let sent: Vec<RawSetting> = values.into_iter().map(setting).collect();
    let arrived = decode(&encode(&sent));
    assert_eq!(
        arrived.iter().map(|raw| &raw.value).collect::<Vec<_>>(),
        sent.iter().map(|raw| &raw.value).collect::<Vec<_>>()
    );
    assert_eq!(arrived[0].source.to_string(), "skep.toml:7");
    assert!(decode("").is_empty() && decode("nonsense").is_empty());
}

/// A value of this kind, or what is wrong with it.
fn read(kind: Kind, value: RawValue) -> Result<Value, String> {
    let row = Row {
        name: "a.b".into(),
        kind,
        default: "".into(),
        is_required: true,
        is_secret: false,
        flag: None,
        help: "".into(),
    };
    let raw = RawSetting { name: "a.b".into(), value, source: Source::Flag("--set".into()) };
    let (values, problems) = Table::new(vec![row]).resolve(vec![raw]);
    let value = values.get("a.b").unwrap().value.clone();
    if problems.is_empty() { Ok(value) } else { Err(problems.join("\n")) }
}

#[test]
fn an_invalid_value_is_refused_with_what_is_expected() {
    for (kind, text, expected) in [
        (Kind::Duration(1000..=60_000), "10", "a duration from 1s to 1m, such as 500ms, 30s, 5m"),
        (Kind::Duration(1000..=60_000), "2m", "a duration from 1s to 1m, such as 500ms, 30s, 5m"),
        (Kind::Size(1..=10), "11", "a size from 1"),
        (Kind::Bool, "yes", "true or false"),
        (Kind::Number(0..=5), "-1", "a number from 0 to 5"),
        (Kind::Choice(&["a", "b"]), "c", "one of a, b"),
    ] {
        let refused = read(kind, RawValue::Text(text.into())).unwrap_err();
        assert!(refused.starts_with(&format!("--set: a.b = \"{text}\": expected {expected}")), "{refused}");
    }
    assert!(read(Kind::Tiers, RawValue::List(Vec::new())).is_err());
    assert_eq!(read(Kind::List("NAME"), RawValue::List(Vec::new())), Ok(Value::List(Vec::new())));
}

#[test]
fn values_are_written_as_they_are_read() {
    for (kind, text) in [
        (Kind::Duration(0..=u64::MAX), "90s"),
        (Kind::Size(0..=u64::MAX), "64KiB"),
        (Kind::Bool, "true"),
        (Kind::Number(0..=9), "7"),
        (Kind::Url, "https://example.org"),
    ] {
        assert_eq!(read(kind, RawValue::Text(text.into())).unwrap().to_string(), text);
    }
}

static SECTION: [u8; section::size(Helpdesk::TABLE, Helpdesk::FIELDS)] =
    section::bytes(Helpdesk::TABLE, Helpdesk::FIELDS);

#[test]
fn a_host_reads_what_the_compiler_wrote() {
    // A switch is off by default, which its row says and the section does not.
    let told = |row: &Row| {
        let default = if matches!(row.kind, Kind::Bool) { "" } else { &row.default };
        format!("{} {default} {} {} {}", row.name, row.is_required, row.is_secret, row.help)
    };
    let read: Vec<_> = section::rows(&SECTION).iter().map(told).collect();
    assert_eq!(read[0], "helpdesk.smtp  true false The mail server.");
    assert!(read.contains(&"helpdesk.opening.from 9 false false The first hour.".to_owned()), "{read:?}");
    assert_eq!(read, app().setting_rows().iter().map(told).collect::<Vec<_>>());
    assert!(section::rows(b"\xff\x1e nonsense \x1e").is_empty());
}
