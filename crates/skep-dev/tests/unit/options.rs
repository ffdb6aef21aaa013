//! Tests of `options`.

use super::*;

fn read(line: &str) -> Result<Option<Options>, String> {
    Options::read(line.split_whitespace().map(OsString::from))
}

#[test]
fn arguments_of_the_application_stand_after_two_dashes() {
    let options = read("-p shop --bin=admin --listen [::1]:9000 --tls --open -- --set a=b --open").unwrap().unwrap();
    assert_eq!((options.package.as_deref(), options.bin.as_deref()), (Some("shop"), Some("admin")));
    assert_eq!(options.listen.to_string(), "[::1]:9000");
    assert_eq!(options.arguments, ["--set", "a=b", "--open"]);
    assert!(options.open && options.tls && read("--help").unwrap().is_none());
}

#[test]
fn only_this_machine_may_be_listened_to() {
    for address in ["0.0.0.0:8080", "[::]:8080", "192.0.2.1:80"] {
        let error = read(&format!("--listen {address}")).unwrap_err();
        assert!(error.contains("only this machine reaches"), "{error}");
    }
    assert!(read("--listen nowhere").unwrap_err().contains("such as 127.0.0.1:8080"));
    assert!(read("--listen").unwrap_err().contains("needs a value"));
    assert!(read("shop").unwrap_err().contains("after --"));
}
