//! Unit tests of `form::jiff`: local times around the changes of clocks.

use jiff::ToSpan as _;
use jiff::civil::{date, datetime};
use proptest::prelude::*;

use super::*;

/// Whose clocks change by an hour, by half of one, at midnight, on other days, no more, or never did.
const ZONES: [&str; 20] = [
    "Africa/Casablanca",
    "America/Havana",
    "America/New_York",
    "America/Nuuk",
    "America/Santiago",
    "America/Sao_Paulo",
    "America/St_Johns",
    "Asia/Beirut",
    "Asia/Gaza",
    "Asia/Jerusalem",
    "Asia/Kolkata",
    "Asia/Tehran",
    "Atlantic/Azores",
    "Australia/Lord_Howe",
    "Australia/Sydney",
    "Europe/Berlin",
    "Europe/Dublin",
    "Pacific/Apia",
    "Pacific/Chatham",
    "UTC",
];

fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// Each moment has a local time, from which it comes back; where the clocks show that twice, one of the two answers
    /// gives it.
    #[test]
    fn each_moment_comes_back_from_its_local_time(which in 0..ZONES.len(), second in 0i64..2_500_000_000) {
        let zone = zone(ZONES[which]);
        let moment_ = Timestamp::from_second(second).unwrap().to_zoned(zone.clone());
        let local = moment_.datetime();
        match moment(local, &zone, None) {
            Ok(found) => prop_assert_eq!(found.timestamp(), moment_.timestamp()),
            Err(problem) => {
                prop_assert_eq!(problem, Problem::Fold(local));
                let both = [Fold::First, Fold::Second].map(|fold| moment(local, &zone, Some(fold)).unwrap());
                prop_assert!(both[0] < both[1] && both.contains(&moment_), "{both:?}");
            }
        }
    }

    /// Around each change of clocks: what they leave out is refused, and where they are by then they do show.
    #[test]
    fn what_is_left_out_is_refused_and_what_follows_is_there(which in 0..ZONES.len(), year in 1975i16..2037, minutes in -180i64..180) {
        let zone = zone(ZONES[which]);
        let start = zone.to_timestamp(date(year, 1, 1).at(0, 0, 0, 0)).unwrap();
        for change in zone.following(start).take(3) {
            let before = zone.to_offset(change.timestamp() - 1.second()).to_datetime(change.timestamp());
            let local = before.checked_add(minutes.minutes()).unwrap();
            for fold in [None, Some(Fold::First), Some(Fold::Second)] {
                match moment(local, &zone, fold) {
                    Ok(found) => prop_assert_eq!(found.datetime(), local),
                    Err(Problem::Gap { from, to }) => {
                        prop_assert_eq!(from, local);
                        prop_assert!(moment(to, &zone, Some(Fold::First)).is_ok(), "{to}");
                    }
                    Err(problem) => prop_assert_eq!((problem, fold), (Problem::Fold(local), None)),
                }
            }
        }
    }

    /// What a form sends is stored as a moment and shown for editing again: the same text, unless the clocks skip it.
    #[test]
    fn what_was_typed_is_stored_and_shown_again(
        which in 0..ZONES.len(), year in 1975i16..2037, day in 0i64..365, minute in 0i64..1440,
    ) {
        let zone = zone(ZONES[which]);
        let start = zone.to_timestamp(date(year, 1, 1).at(0, 0, 0, 0)).unwrap();
        let change = zone.following(start).next().map(|change| zone.to_datetime(change.timestamp()));
        let any = date(year, 1, 1).at(0, 0, 0, 0).checked_add(day.days()).unwrap();
        for day in [Some(any), change].into_iter().flatten() {
            let typed = written(&day.date().at(0, 0, 0, 0).checked_add(minute.minutes()).unwrap());
            let local = civil::DateTime::check(&typed).unwrap();
            let folds = [None, Some(Fold::First), Some(Fold::Second)];
            let offset = zone.to_ambiguous_timestamp(local).offset();
            let is_left_out = matches!(offset, AmbiguousOffset::Gap { .. });
            let moments: Vec<_> = folds.iter().filter_map(|fold| moment(local, &zone, *fold).ok()).collect();
            prop_assert_eq!(moments.is_empty(), is_left_out, "{}", typed);
            for moment in moments {
                let mut stored = String::new();
                Param::write(&moment.timestamp(), &mut stored);
                let read = <Timestamp as Param>::parse(&stored).unwrap();
                prop_assert_eq!(written(&read.to_zoned(zone.clone()).datetime()), typed.clone());
            }
        }
    }

    #[test]
    fn what_is_written_is_read_again(second in -60_000_000_000i64..250_000_000_000, nanos in 0i32..1_000_000_000) {
        for nanos in [0, nanos / 1_000_000 * 1_000_000, nanos] {
            let moment = Timestamp::new(second, nanos).unwrap();
            let local = moment.to_zoned(TimeZone::UTC).datetime();
            prop_assert_eq!(civil::DateTime::parse(&written(&local)), Some(local));
            prop_assert_eq!(civil::Time::parse(&written(&local.time())), Some(local.time()));
            prop_assert_eq!(civil::Date::parse(&written(&local.date())), Some(local.date()));
            prop_assert_eq!(<Timestamp as Param>::parse(&moment.to_string()), Some(moment));
        }
    }
}

#[test]
fn a_value_has_one_text_and_that_of_a_browser() {
    assert_eq!(civil::DateTime::parse("2026-12-31T18:30"), Some(datetime(2026, 12, 31, 18, 30, 0, 0)));
    assert_eq!(written(&datetime(2026, 12, 31, 18, 30, 0, 0)), "2026-12-31T18:30");
    assert_eq!(written(&datetime(2026, 12, 31, 18, 30, 5, 250_000_000)), "2026-12-31T18:30:05.25");
    for wrong in ["20261231T183000", "2026-12-31T18:30[Europe/Berlin]", "2026-12-31T18:30Z", "2026-12-31", "2026-W53-4"]
    {
        assert_eq!(civil::DateTime::parse(wrong), None, "{wrong}");
    }
    assert_eq!(<civil::Date as Control>::check(" "), Err(FieldError::Missing));
    assert_eq!(<civil::Date as Control>::check("2026-02-29"), Err(FieldError::NotDate));
}

#[test]
fn a_user_reads_what_the_clocks_do() {
    let berlin = zone("Europe/Berlin");
    let gap = moment(datetime(2026, 3, 29, 2, 30, 0, 0), &berlin, None).unwrap_err();
    let english = Messages::ENGLISH;
    assert_eq!(gap.text(&english), "The clocks go forward that day, and 02:30 does not come: it is 03:30 by then.");
    let fold = moment(datetime(2026, 10, 25, 2, 30, 0, 0), &berlin, None).unwrap_err();
    assert_eq!(fold.text(&english), "The clocks go back that day, and 02:30 comes twice: which time do you mean?");
    let apia = moment(datetime(2011, 12, 30, 12, 0, 0, 0), &zone("Pacific/Apia"), None).unwrap_err();
    assert_eq!(
        apia,
        Problem::Gap { from: datetime(2011, 12, 30, 12, 0, 0, 0), to: datetime(2011, 12, 31, 12, 0, 0, 0) }
    );
    let left_out =
        "The clocks go forward that day, and 2011-12-30 12:00 does not come: it is 2011-12-31 12:00 by then.";
    assert_eq!(apia.text(&english), left_out);
    assert_eq!(Problem::Beyond.text(&english), english.not_date_time);
}
