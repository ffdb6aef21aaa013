//! Unit tests of groups: all of a setting follows from its row.

use std::time::Duration;

use super::*;
use crate::{GIB, HOUR, KIB, Kind, RawSetting, RawValue, SECOND, Source, Table};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Store {
    #[default]
    Server,
    Cookie,
}

crate::words! { Store { Server = "server", Cookie = "cookie" } }

crate::settings! {
    /// Of a test.
    #[derive(Clone, Debug)]
    struct Mail in "mail" {
        /// Time to hand a mail
        /// over. Then it failed.
        timeout: Duration = Duration(SECOND..=HOUR), 30 * SECOND, variable "MAIL_TIMEOUT" as milliseconds;
        /// Sender.
        from: Option<String> = Text, "", flag "--from" "ADDRESS";
        /// Where it waits.
        store: Store = Choice(Store::WORDS), Store::Server.word(), variable "MAIL_STORE" as word;
        /// Bytes that wait.
        bytes as "limits.mail_bytes": Option<u64> = Size(0..=GIB), 64 * KIB;
    }
    and {
        /// No setting.
        sent: u32,
    }
}

crate::settings! {
    /// Of a test.
    #[derive(Clone, Debug)]
    struct Tier in "cache.NAME" {
        /// Its tiers.
        tiers: Vec<String> = Tiers, "memory:1MiB";
    }
}

crate::settings! {
    /// Of a test.
    #[derive(Clone, Debug)]
    struct All in "" {
        /// Threads.
        workers: usize = Number(0..=1024), 0;
        mail: Mail;
        cache: Named<Tier>;
        /// Checks.
        is_checked: bool = Bool, true;
    }
}

fn resolved(settings: &[(&str, &str)]) -> Result<All, String> {
    let raw = settings.iter().map(|(name, value)| RawSetting {
        name: (*name).into(),
        value: RawValue::Text((*value).into()),
        source: Source::Fixed,
    });
    let (values, problems) = Table::new(All::rows()).resolve(raw.collect());
    assert_eq!(problems, [""; 0]);
    let mut all = All::default();
    values.iter().try_for_each(|one| all.set(&one.name, &one.value).expect("each row has a field"))?;
    Ok(all)
}

#[test]
fn a_row_is_all_that_is_known_of_a_setting() {
    let rows = All::rows();
    let names: Vec<_> = rows.iter().map(|row| &*row.name).collect();
    let expected = ["workers", "mail.timeout", "mail.from", "mail.store", "limits.mail_bytes", "cache.NAME.tiers"];
    assert_eq!(names, [&expected[..], &["is_checked"]].concat());
    assert_eq!((&*rows[1].help, &*rows[1].default), ("Time to hand a mail over. Then it failed.", "30s"));
    assert_eq!(rows[2].flag, Some(("--from".into(), "ADDRESS")));
    assert_eq!((&*rows[4].default, rows[4].kind.to_string()), ("64KiB", Kind::Size(0..=GIB).to_string()));
}

#[test]
fn the_defaults_of_fields_are_those_of_the_rows() {
    let (written, read) = (All::default(), resolved(&[]).unwrap());
    assert_eq!(format!("{written:?}"), format!("{read:?}"));
    assert_eq!((read.mail.timeout, read.mail.from, read.mail.sent), (Duration::from_secs(30), None, 0));
}

#[test]
fn values_reach_their_fields() {
    let set = [("mail.store", "cookie"), ("limits.mail_bytes", "0"), ("cache.pages.tiers", "a; b"), ("workers", "3")];
    let all = resolved(&set).unwrap();
    assert_eq!((all.mail.store, all.mail.bytes, all.workers, all.is_checked), (Store::Cookie, None, 3, true));
    let (name, tier) = all.cache.iter().next().unwrap();
    assert_eq!((name, &*tier.tiers), ("pages", &["a".to_owned(), "b".to_owned()][..]));
}

#[test]
fn a_component_has_them_in_variables() {
    let mail = Mail { timeout: Duration::from_millis(1500), store: Store::Cookie, ..Mail::default() };
    let variables = mail.variables();
    let of = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, text)| text.clone());
    assert_eq!(variables, [("MAIL_TIMEOUT", "1500".to_owned()), ("MAIL_STORE", "cookie".to_owned())]);
    let mut read = Mail::default();
    read.read_variables(&of).unwrap();
    assert_eq!((read.timeout, read.store), (mail.timeout, mail.store));
    let wrong = |name: &str| (name == "MAIL_TIMEOUT").then(|| "soon".to_owned());
    assert_eq!(read.read_variables(&wrong).unwrap_err(), "MAIL_TIMEOUT=\"soon\" cannot be read");
    assert_eq!(Mail::default().variables().len(), 1, "a word only if it is not the default");
}
