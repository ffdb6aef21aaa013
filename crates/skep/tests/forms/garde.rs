//! Rules of the crate `garde` beside the types of a form's fields.

use garde::Validate;
use skep::form::{Decimal, Group, MultilineText, Password, Refusal, Text, Whole};
use skep::prelude::*;
use skep::test::Client;

#[derive(Service)]
#[service(GET "/rooms/{room}")]
struct Room {
    room: u32,
}

impl Handle for Room {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let form = Book::form(cx, self.room);
        Ok(Response::html(html! {
            form (form) {
                input (Book::name);
                textarea (Book::wishes);
                input (Book::password);
                input (Book::again);
                input (Book::nights);
                input (Book::price);
                input (Book::nickname);
                @for row in form.rows(Book::guests, 1) { input (Book::guests.row(row, Guest::name)); }
            }
        }))
    }
}

#[derive(Group, Validate)]
struct Guest {
    #[garde(ascii)]
    name: Text<1, 40>,
}

#[derive(Service, Validate)]
#[service(POST "/rooms/{room}", page = Room { room }, rules = Book::rules)]
struct Book {
    #[garde(range(max = 40))]
    room: u32,
    #[form]
    #[garde(ascii, length(min = 3))]
    name: Text<1, 80>,
    #[form]
    #[garde(length(utf16, max = 5), contains("!"))]
    wishes: MultilineText<0, 1000>,
    #[form]
    #[garde(skip)]
    password: Password<4, 64>,
    #[form]
    #[garde(custom(same(&self.password)))]
    again: Password<4, 64>,
    #[form]
    #[garde(range(min = 2))]
    nights: Whole<1, 30>,
    #[form]
    #[garde(range(min = Decimal::of_steps(150).unwrap()))]
    price: Decimal<2>,
    #[form]
    #[garde(inner(prefix("@")))]
    nickname: Option<Text<1, 20>>,
    #[form]
    #[garde(dive)]
    guests: Vec<Guest>,
}

type Typed = Password<4, 64>;

fn same(first: &Typed) -> impl FnOnce(&Typed, &()) -> garde::Result + '_ {
    move |again, ()| {
        if first.reveal() == again.reveal() { Ok(()) } else { Err(garde::Error::new("the two are not the same")) }
    }
}

impl Book {
    fn rules(&self, refusal: &mut Refusal<Self>) {
        if self.nights.get() < 3 && self.room == 7 {
            refusal.field(Book::nights, "Room 7 is for three nights or more.");
        }
    }
}

impl Handle for Book {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let guests: Vec<&str> = self.guests.iter().map(|guest| guest.name.as_str()).collect();
        let Self { room, name, wishes, nights, price, nickname, .. } = &self;
        Ok(Response::text(format!("{room} {name} {wishes} {nights} {price} {nickname:?} {guests:?}")))
    }
}

fn client() -> Client {
    Client::new(App::new().serve(services![Room, Book]))
}

const GOOD: [(&str, &str); 8] = [
    ("name", "Ann"),
    ("wishes", "Quiet"),
    ("password", "1234"),
    ("again", "1234"),
    ("nights", "2"),
    ("price", "1.5"),
    ("nickname", ""),
    ("guests.0.name", "Bo"),
];

fn with(changes: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    let kept = GOOD.into_iter().filter(|(name, _)| changes.iter().all(|(other, _)| other != name));
    kept.chain(changes.iter().copied()).collect()
}

#[test]
fn what_keeps_all_rules_reaches_the_handler() {
    let answer = client().post("/rooms/3", &with(&[("wishes", "Now!")]));
    assert_eq!(answer.text(), "3 Ann Now! 2 1.50 None [\"Bo\"]");
}

#[test]
fn what_breaks_a_rule_stands_beside_its_field() {
    let sent = with(&[
        ("name", "Zoë"),
        ("again", "4321"),
        ("nights", "1"),
        ("price", "1.49"),
        ("nickname", "zoe"),
        ("guests.2.name", "Bö"),
    ]);
    let answer = client().post("/rooms/3", &sent);
    let page = answer.text();
    assert_eq!(answer.status(), 422, "{page}");
    for (id, message) in [
        ("name", "not ascii"),
        ("wishes", "does not contain \"!\""),
        ("again", "the two are not the same"),
        ("nights", "lower than 2"),
        ("price", "lower than 1.50"),
        ("nickname", "value does not begin with \"@\""),
        ("guests-1-name", "not ascii"),
    ] {
        let span = format!("<span class=\"problem\" id=\"book-{id}-problem\">{message}</span>");
        assert!(page.contains(&span), "{span}\n{page}");
    }
    assert!(page.contains("value=\"Zoë\""), "{page}");
    assert!(!page.contains("4321"), "{page}");
}

#[test]
fn garde_and_the_rules_speak_together_and_a_parameter_without_control_is_named() {
    let answer = client().post("/rooms/41", &with(&[("wishes", "!")]));
    assert!(
        answer.text().contains(r#"<p class="problem" role="alert">room: greater than 40</p>"#),
        "{}",
        answer.text()
    );
    let both = client().post("/rooms/7", &GOOD);
    assert!(both.text().contains("Room 7 is for three nights or more."), "{}", both.text());
    assert!(both.text().contains("does not contain"), "{}", both.text());
}

#[test]
fn what_a_type_says_comes_first() {
    let answer = client().post("/rooms/3", &with(&[("name", ""), ("nights", "1")]));
    assert!(
        answer.text().contains("Please fill this in.") && !answer.text().contains("lower than"),
        "{}",
        answer.text()
    );
}
