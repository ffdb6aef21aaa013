//! What a form sent, in a column of the database and in JSON.

use serde::{Deserialize, Serialize};
use skep::Slug;
use skep::form::{Date, Decimal, Email, Password, Text, Whole};
use skep::prelude::Param;
use skep::sql::{FromValue, ToValue, Value};

#[derive(Clone, Copy, Debug, PartialEq, Param)]
enum Rating {
    Great,
    #[param("so-so")]
    Fine,
}

fn back<T: ToValue + FromValue>(value: &T) -> T {
    T::from_value(value.to_value().unwrap()).unwrap()
}

fn refused<T: FromValue>(text: &'static str) -> String {
    T::from_value(Value::Text(text.into())).err().expect("a value that does not fit").to_string()
}

#[test]
fn what_a_form_sent_is_kept_and_comes_back() {
    let name: Text<1, 80> = "Ann".parse().unwrap();
    assert_eq!(back(&name).as_str(), "Ann");
    let day: Date = "2026-11-21".parse().unwrap();
    assert_eq!(day.to_value().unwrap(), Value::Text("2026-11-21".into()));
    assert_eq!(back(&day).to_string(), "2026-11-21");
    assert_eq!(back(&Whole::<1, 5>::new(3).unwrap()).get(), 3);
    assert_eq!(Rating::Fine.to_value().unwrap(), Value::Text("so-so".into()));
    assert_eq!(back(&Rating::Great), Rating::Great);
}

#[test]
fn what_the_type_refuses_is_said() {
    assert_eq!(refused::<Email>("x"), "not an e-mail address");
    assert_eq!(refused::<Rating>("bad"), "\"bad\" is not great or so-so");
    let six = Whole::<1, 5>::from_value(Value::Integer(6)).expect_err("6 is too much");
    assert_eq!(six.to_string(), "6 does not lie between 1 and 5");
}

fn both_ways<T: Serialize + for<'de> Deserialize<'de>>(json: &str) -> String {
    serde_json::to_string(&serde_json::from_str::<T>(json).expect("accepted")).expect("written")
}

fn refused_in_json<T: for<'de> Deserialize<'de>>(json: &str) -> String {
    serde_json::from_str::<T>(json).err().expect("refused").to_string()
}

#[test]
fn what_a_form_takes_json_takes() {
    assert_eq!(both_ways::<Text<1, 9>>("\" \\u0041nn \""), "\"Ann\"");
    assert_eq!(both_ways::<Whole<1, 12>>("7"), "7");
    assert_eq!(both_ways::<Decimal<2>>("\"12.5\""), "\"12.50\"");
    assert_eq!(both_ways::<Date>("\"2026-12-31\""), "\"2026-12-31\"");
    assert_eq!(both_ways::<Slug>("\"a-day\""), "\"a-day\"");
}

#[test]
fn what_a_form_refuses_json_refuses() {
    assert!(refused_in_json::<Text<1, 2>>("\"Ann\"").starts_with("That is too long: 2 characters at most"));
    assert!(refused_in_json::<Whole<1, 12>>("13").starts_with("That is too much: 12 is the most."));
    assert!(refused_in_json::<Slug>("\"A\"").contains("lower-case"));
    assert!(refused_in_json::<Password<8, 99>>("\"short\"").contains('8'));
    assert!(refused_in_json::<Date>("20261231").starts_with("invalid type"));
}
