//! Every value that is written can be read back, and no text makes a parser panic.

use std::time::Duration;

use proptest::prelude::*;
use skep_units::{Address, Rate, format_duration, format_list, format_size, parse_duration, parse_list, parse_size};

fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        any::<u64>().prop_map(Duration::from_nanos),
        any::<u32>().prop_map(|millis| Duration::from_millis(millis.into())),
        (0_u64..1_000_000).prop_map(|minutes| Duration::from_secs(minutes * 60)),
        Just(Duration::MAX),
    ]
}

fn address() -> impl Strategy<Value = Address> {
    let host =
        prop_oneof!["[a-z]([a-z0-9-]{0,8}[a-z0-9])?(\\.[a-z]{2,5})?", Just("[::1]".to_owned()), Just(String::new())];
    prop_oneof![
        (host, any::<u16>()).prop_map(|(host, port)| Address::Tcp { host, port }),
        "/[a-z/]{1,20}".prop_map(Address::Unix),
        (0..i32::MAX).prop_map(Address::Descriptor),
    ]
}

proptest! {
    #[test]
    fn durations_are_read_as_they_are_written(duration in duration()) {
        prop_assert_eq!(parse_duration(&format_duration(duration)), Ok(duration));
    }

    #[test]
    fn parts_of_a_duration_add_up(hours in 0_u64..1000, minutes in 0_u64..1000, millis in 0_u64..100_000) {
        let text = format!(" {hours}h {minutes} m{millis}ms");
        let sum = hours * 3_600_000 + minutes * 60_000 + millis;
        prop_assert_eq!(parse_duration(&text), Ok(Duration::from_millis(sum)));
    }

    #[test]
    fn a_fraction_of_a_second_is_exact(seconds in 0_u64..1_000_000, millis in 0_u64..1000) {
        let text = format!("{seconds}.{millis:03}s");
        prop_assert_eq!(parse_duration(&text), Ok(Duration::from_millis(seconds * 1000 + millis)));
    }

    #[test]
    fn sizes_are_read_as_they_are_written(bytes in any::<u64>(), shift in 0_u32..50) {
        let bytes = bytes >> shift << shift;
        prop_assert_eq!(parse_size(&format_size(bytes)), Ok(bytes));
        prop_assert_eq!(parse_size(&format_size(bytes).to_lowercase()), Ok(bytes));
    }

    #[test]
    fn rates_are_read_as_they_are_written(events in any::<u64>(), interval in duration()) {
        prop_assume!(!interval.is_zero());
        let rate = Rate { events, interval };
        prop_assert_eq!(rate.to_string().parse(), Ok(rate));
    }

    #[test]
    fn addresses_are_read_as_they_are_written(address in address()) {
        prop_assert_eq!(address.to_string().parse(), Ok(address));
    }

    #[test]
    fn lists_are_read_as_they_are_written(list in prop::collection::vec("[a-z:,=/]{1,12}", 1..5)) {
        let (inline, lines) = (format_list(&list), list.join("\n"));
        prop_assert_eq!(parse_list(&inline).unwrap(), list.clone());
        prop_assert_eq!(parse_list(&lines).unwrap(), list);
    }

    #[test]
    fn no_text_makes_a_parser_panic(text in "[0-9.: smhdKMGiB/;\\[\\]x-]{0,24}|.{0,16}") {
        let _ = (parse_duration(&text), parse_size(&text), text.parse::<Rate>(), text.parse::<Address>());
        let _ = (parse_list(&text), skep_units::nearest(&text, ["listen"]));
    }
}

#[test]
fn an_invalid_duration_is_refused_with_examples() {
    for text in ["", "10", "5m x", "m", "1.5.5s", "-1s", "1 .5s", "1S", "999999999999999999999d", "0.1ns"] {
        let error = parse_duration(text).unwrap_err().to_string();
        let expected = format!("invalid duration \"{text}\": expected a number and a unit, such as 500ms, 30s, 5m");
        assert_eq!(error, expected);
    }
}

#[test]
fn an_invalid_size_is_refused_with_examples() {
    for text in ["", "MiB", "-1MiB", "0.1B", "99999999999GiB", "1 MiB x", "64 bits"] {
        let error = parse_size(text).unwrap_err().to_string();
        let expected = format!("invalid size \"{text}\": expected a number and a unit, such as 1500B, 64KiB, 2MiB");
        assert_eq!(error, expected);
    }
}

#[test]
fn an_invalid_rate_or_address_is_refused_with_its_remedy() {
    for text in ["10", "10/", "/s", "1.5/s", "10/0", "10/x"] {
        assert!(text.parse::<Rate>().unwrap_err().to_string().starts_with("invalid rate"), "{text}");
    }
    let error = |text: &str| text.parse::<Address>().unwrap_err().to_string();
    let expected = "invalid address \"8800\": expected a host, too: 127.0.0.1:8800, or :8800 for every address";
    assert_eq!(error("8800"), expected);
    for text in ["", "localhost", "::1:80", "a:b:80", "[]:80", ":80,:81", "host:99999", "unix:", "fd:-1", "a b:80"] {
        assert!(error(text).starts_with(&format!("invalid address \"{text}\": expected ")), "{text}");
    }
}

#[test]
fn a_star_is_every_address() {
    assert_eq!("*:80".parse::<Address>().unwrap().to_string(), ":80");
}
