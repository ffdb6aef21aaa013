//! Unit tests of `generate`.

use super::*;

fn wanted(line: &[&str]) -> Result<Option<Wanted>, String> {
    read(line.iter().map(OsString::from).collect())
}

#[test]
fn a_wrong_command_line_says_what_is_right() {
    assert!(wanted(&["--help"]).unwrap().is_none());
    for (line, says) in [
        (&[][..], "what is to be generated?"),
        (&["scafold", "post"], "did you mean `skep gen scaffold`?"),
        (&["authentication"], "did you mean `skep gen sign-in`?"),
        (&["channel", "room"], "did you mean `skep gen topic`?"),
        (&["scaffold"], "which name is the scaffold to have?"),
        (&["table", "post", "--dry-rum"], "did you mean --dry-run?"),
        (&["table", "post", "--manifest-path"], "needs the path"),
    ] {
        let error = wanted(line).map(drop).unwrap_err();
        assert!(error.contains(says), "{line:?}: {error}");
    }
    assert!(wanted(&["help"]).unwrap().is_none() && wanted(&["service", "help"]).unwrap().is_some());
    let read = wanted(&["table", "post", "-n", "title:text", "--manifest-path", "a/Cargo.toml"]).unwrap().unwrap();
    assert!(read.dry && read.words == ["table", "post", "title:text"]);
    assert_eq!(read.folder.as_deref(), Some(Path::new("a")));
}

#[test]
fn a_field_that_is_wrong_gets_a_list_of_what_is_right() {
    let tables = [tables::Table { name: "account".to_owned(), columns: Vec::new() }];
    let parse = |text: &str| Field::parse_all(&[text.to_owned()], &tables).map(drop).unwrap_err();
    for (text, says) in [
        ("title", "expected a name and a type, such as \"title:text\""),
        ("title:string", "did you mean `title:text`?"),
        ("title:txet", "did you mean `title:text`?"),
        ("author:acount", "did you mean `author:account`?"),
        ("id:integer", "no field can be named \"id\""),
        ("type:text", "a word of Rust"),
    ] {
        let error = parse(text);
        assert!(error.contains(says), "{text}: {error}");
    }
    let error = parse("title:money");
    assert!(
        error.contains("datetime  a day and a time") && error.contains("a row of another table: account"),
        "{error}"
    );
    let order = Field::parse_all(&["order:integer".to_owned()], &tables).unwrap();
    assert!(Field::check_columns(&order).unwrap_err().contains("a word of SQL"));
    let twice = ["a:text", "a:date"].map(str::to_owned);
    assert!(Field::parse_all(&twice, &tables).map(drop).unwrap_err().contains("there twice"));
}
