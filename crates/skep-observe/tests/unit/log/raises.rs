//! Unit tests of `log::raises`.

use super::*;

fn raise(text: &str) -> Result<Raise, String> {
    Raise::parse(&text.split_whitespace().collect::<Vec<_>>())
}

#[test]
fn a_command_names_a_user_or_a_network_a_level_and_a_time() {
    let text = |command: &str| raise(command).unwrap().to_string();
    assert_eq!(text("user anna@example.org debug 15m"), "user anna@example.org: DEBUG for 15m");
    assert_eq!(text("user Anna Lena debug"), "user Anna Lena: DEBUG for 1h");
    assert_eq!(text("user debug trace 30s"), "user debug: TRACE for 30s");
    assert_eq!(text("address 192.0.2.7 debug"), "address 192.0.2.7: DEBUG for 1h");
    assert_eq!(text("address ::ffff:192.0.2.7 debug"), "address 192.0.2.7: DEBUG for 1h");
    assert_eq!(text("address 10.1.2.3/8 info 24h"), "address 10.0.0.0/8: INFO for 1d");
    assert_eq!(raise("user anna inherit").unwrap().describe(), "requests of user anna have the usual log levels\n");
}

#[test]
fn what_is_wrong_is_named() {
    for (wrong, expected) in [
        ("user", "such as log user anna debug 15m"),
        ("user anna", "unknown log level \"anna\""),
        ("user debug", "such as log user anna debug 15m"),
        ("user anna off", "such as log user anna debug 15m"),
        ("user an\0na debug", "such as log user anna debug 15m"),
        ("user anna debug 0", "for 1d at most, and for more than 0"),
        ("user anna debug 25h", "for 1d at most"),
        ("user anna debug soon", "invalid duration \"soon\""),
        ("address anna debug", "\"anna\" is no address or network: write 192.0.2.7"),
        ("group admins debug", "such as log user anna debug 15m"),
    ] {
        let problem = raise(wrong).unwrap_err();
        assert!(problem.contains(expected), "{wrong}: {problem}");
    }
}

#[test]
fn a_change_travels_as_a_line() {
    for command in
        ["user Anna Lena debug 15m", "address 10.0.0.0/8 trace", "address 2001:db8::1 debug", "user anna inherit"]
    {
        let change = raise(command).unwrap();
        assert_eq!(Raise::of_line(&change.to_line()), Some(change));
    }
    assert_eq!(Raise::of_line("debug 5"), None);
}

#[test]
fn a_list_has_one_change_for_each_owner_and_no_more_than_it_may() {
    let mut list = Vec::new();
    for command in ["user anna debug", "address 10.0.0.0/8 debug", "user anna trace", "address 10.0.0.0/8 inherit"] {
        raise(command).unwrap().put_into(&mut list);
    }
    assert_eq!(list.iter().map(ToString::to_string).collect::<Vec<_>>(), ["user anna: TRACE for 1h"]);
    list[0].until = 0;
    for number in 0..2 * MAX_RAISES {
        raise(&format!("user {number} debug")).unwrap().put_into(&mut list);
    }
    assert_eq!(list.len(), MAX_RAISES);
    assert_eq!(list.last().unwrap().whose, Owner::User("199".to_owned()));
}

#[test]
fn an_owner_is_a_user_of_that_name_or_an_address_in_the_network() {
    let owns = |command: &str, whose: Whose<'_>| raise(command).unwrap().whose.is(whose);
    let address = |text: &str| Whose::Address(text.parse().unwrap());
    assert!(owns("user anna debug", Whose::User("anna")) && !owns("user anna debug", Whose::User("Anna")));
    assert!(
        owns("address 10.0.0.0/8 debug", address("10.9.9.9")) && !owns("address 10.0.0.0/8 debug", address("11.0.0.1"))
    );
    assert!(owns("address 10.0.0.0/8 debug", address("::ffff:10.9.9.9")));
    assert!(owns("address ::/0 debug", address("2001:db8::1")) && !owns("address ::/0 debug", address("10.9.9.9")));
    assert!(!owns("user 10.9.9.9 debug", address("10.9.9.9")));
}
