//! Unit tests of `config::flags`.

use super::*;

fn parse(arguments: &[&str]) -> Result<Flags, String> {
    Flags::parse(arguments.iter().map(Into::into), &crate::config::table(&[])).map_err(|error| error.to_string())
}

#[test]
fn an_unknown_flag_is_refused_with_the_nearest_one() {
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
    let said: Vec<_> = flags.settings.iter().map(|raw| (raw.name.clone(), raw.value.to_string())).collect();
    let expected = [("listen", ":1"), ("tls.self_signed", "true"), ("a.b", "c=d")];
    assert_eq!(said, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert_eq!(flags.command, Some(Command::Check));
    assert_eq!(flags.file, Some("x.toml".into()));
    assert!(parse(&["--workers"]).unwrap_err().contains("--workers"));
}
