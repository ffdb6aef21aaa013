//! Who guesses is held back, and keeps nobody else out.

use skep::form::Text;
use skep::mail::Mail;
use skep::prelude::*;
use skep_people::Account;

use super::app::User;
use super::*;

const HOUR: Duration = Duration::from_hours(1);

impl World {
    fn at(&self, address: &str) -> Client {
        self.client().at_address(address)
    }

    /// With another setup.
    fn with(change: impl FnOnce(&mut Setup)) -> Self {
        let mut setup = Setup::default();
        (setup.temporary_database, setup.clock) = (true, Clock::manual());
        change(&mut setup);
        let clock = setup.clock.clone();
        Self { site: Arc::new(app::app().open(setup).unwrap()), clock }
    }

    fn events_of(&self, kind: &str) -> i64 {
        let count = query("select count(*) from security_event where kind = ?", kind);
        self.site.db().write(|db| db.one::<i64>(count)).unwrap().unwrap()
    }

    fn subjects(&self) -> Vec<String> {
        self.client().mails().into_iter().map(|mail| mail.subject).collect()
    }
}

fn try_name(client: &Client, email: &str, password: &str) -> u16 {
    client.post("/sign-in", &[("email", email), ("password", password)]).status().as_u16()
}

fn guess(client: &Client) -> u16 {
    try_name(client, ADA, "wrong")
}

fn ask(client: &Client, path: &str) -> u16 {
    client.post(path, &[("email", ADA)]).status().as_u16()
}

#[test]
fn the_owner_gets_in_while_a_stranger_guesses() {
    // Two addresses of one network each: those beside the attacker's are the attacker's, too.
    for (attackers, owner) in [
        (["192.0.2.9", "192.0.2.10"], "198.51.100.1"),
        (["192.0.2.9", "192.0.2.9"], "192.0.2.10"),
        (["2001:db8:1::1", "2001:db8:1:ffff::1"], "2001:db8:2::1"),
        (["2001:db8:1::1", "2001:db8:1::2"], "2001:db8:1:100::1"),
        (["2001:db8:1::1", "192.0.2.9"], "198.51.100.1"),
    ] {
        let (world, _) = World::with_ada();
        for attacker in attackers {
            let refused = (0..25).filter(|_| guess(&world.at(attacker)) == 429).count();
            assert!(refused >= 15, "{attacker}: {refused}");
        }
        for number in 0..11 {
            world.clock.advance(Duration::from_secs(7));
            for attacker in attackers {
                assert_eq!(guess(&world.at(attacker)), 429);
            }
            assert_eq!(try_name(&world.at(owner), ADA, PASSWORD), 200, "{owner} beside {attackers:?}, {number}");
        }
        for path in ["/reset", "/sign-in/link", "/sign-up"] {
            let asked = (0..20).filter(|_| ask(&world.at(attackers[0]), path) == 200).count();
            assert_eq!(asked, 5, "{path}");
            assert_eq!(ask(&world.at(owner), path), 200, "{path} for {owner}");
        }
    }
}

#[test]
fn a_browser_that_has_signed_in_before_has_a_budget_of_its_own() {
    let (world, ada) = World::with_ada();
    let known = ada.at_address("203.0.113.1");
    // From 300 networks: the name itself is closed to strangers.
    for number in 0..300 {
        guess(&world.at(&format!("10.{}.{}.1", number / 10, number % 10)));
        ask(&world.at(&format!("10.{}.{}.1", number / 10, number % 10)), "/reset");
    }
    let stranger = world.at("198.51.100.1");
    assert_eq!((guess(&stranger), ask(&stranger, "/reset")), (429, 429), "the budget of the name is used up");
    assert_eq!(try_name(&known, ADA, PASSWORD), 200);
    assert_eq!(ask(&known, "/reset"), 200);
    known.post("/sign-out", &[]);
    assert_eq!(try_name(&known, ADA, PASSWORD), 200, "also after it has signed out");
    let wrong = (0..30).filter(|_| guess(&known) == 422).count();
    assert_eq!(wrong, 10, "and then it is a stranger");
    assert_eq!(known.post("/sign-in", &[("email", "bob@example.org"), ("password", "x")]).status(), 422);
    let other = world.at("203.0.113.1");
    assert_eq!(guess(&other), 429, "another browser at its address is a stranger");
}

#[test]
fn guesses_at_a_name_are_bounded_over_all_networks() {
    let (world, _) = World::with_ada();
    let mut taken = 0;
    // Six hours, of 60 networks that try all the time: 100, and one a minute.
    for minute in 0..6 * 60 {
        for number in 0..if minute == 0 { 60 } else { 4 } {
            let network = (minute * 4 + number) % 60;
            taken += u32::from(guess(&world.at(&format!("10.0.{network}.1"))) == 422);
        }
        world.clock.advance(Duration::from_mins(1));
    }
    assert!((440..=460).contains(&taken), "{taken}");
}

#[test]
fn each_kind_of_mail_has_its_own_budget() {
    let (world, ada) = World::with_ada();
    let stranger = world.at("192.0.2.1");
    for path in ["/reset", "/sign-in/link", "/sign-up"] {
        let asked = (0..9).filter(|_| ask(&stranger, path) == 200).count();
        assert_eq!(asked, 5, "{path} is closed by no other");
    }
    for address in ["ada@example.org", "ada2@example.org"] {
        let asked = (0..9).filter(|_| ada.post("/email", &[("email", address)]).status() == 200).count();
        assert_eq!(asked, 5, "{address}");
    }
    let bombed = (0..200).filter(|number| ask(&world.at(&format!("10.{number}.0.1")), "/reset") == 200).count();
    assert!(bombed <= 20, "a recipient gets {bombed} mails");
    assert_eq!(world.events_of("link throttled"), 5);
    let spread = (0..99).filter(|number| {
        let email = format!("nobody{number}@example.org");
        stranger.post("/reset", &[("email", &email)]).status() == 200
    });
    assert!(spread.count() <= 30, "a network asks for no more");
}

#[test]
fn a_flood_of_made_up_names_resets_no_counter() {
    // 1024 bytes are 128 counters.
    let world = World::with(|setup| setup.limits.counters = 1024);
    let (world, _) = world.and_ada();
    let guesser = world.at("192.0.2.9");
    while guess(&guesser) == 422 {}
    let flood = world.at("198.51.100.1");
    let taken =
        (0..1000).filter(|number| try_name(&flood, &format!("made-up{number}@example.org"), "x") == 422).count();
    assert!(taken <= 50, "the address is asked first");
    for number in 0..300 {
        try_name(
            &world.at(&format!("10.{}.{}.1", number / 200, number % 200)),
            &format!("bot{number}@example.org"),
            "x",
        );
    }
    assert_eq!(guess(&guesser), 429, "it was not forgotten");
    world.clock.advance(Duration::from_mins(5));
    assert_eq!((guess(&guesser), guess(&guesser)), (422, 429), "and refills as before");
}

#[test]
fn a_throttled_name_is_recorded_once_in_an_hour() {
    let (world, _) = World::with_ada();
    let names = [ADA, " ADA@example.org", "nobody@example.org"];
    for email in names.iter().cycle().take(90) {
        try_name(&world.client(), email, "wrong");
    }
    assert_eq!(world.events_of("throttled"), 2, "Ada, and nobody");
    assert_eq!(world.text("select account from security_event where kind = 'throttled' and account is not null"), "1");
    world.clock.advance(HOUR);
    assert_eq!((0..40).filter(|_| guess(&world.client()) == 422).count(), 10);
    assert_eq!(world.events_of("throttled"), 3);
    // One address and any number of names: its refusals are recorded now and then.
    let flood = world.at("192.0.2.1");
    for number in 0..500 {
        try_name(&flood, &format!("made-up{number}@example.org"), "x");
    }
    assert_eq!(world.events_of("throttled"), 8);
}

#[test]
fn tokens_that_are_none_are_not_recorded_for_ever() {
    let (world, _) = World::with_ada();
    let client = world.at("192.0.2.1");
    let paths = ["/sign-in/link/x", "/email/x"];
    let statuses: Vec<u16> =
        paths.iter().cycle().take(200).map(|path| client.post(path, &[]).status().as_u16()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 150);
    assert_eq!(world.events_of("link refused"), 50);
    // A right one is taken all the same.
    ask(&client, "/sign-in/link");
    assert_eq!(client.post(&world.link(), &[]).text(), "welcome");
}

#[test]
fn five_wrong_codes_end_the_first_factor_and_the_pause_grows() {
    let world = World::with(|setup| setup.notices = true);
    let (world, ada) = world.and_ada();
    let (totp, codes) = world.with_second_factor(&ada);
    let before = world.subjects().len();
    let thief = world.at("192.0.2.1");
    sign_in(&thief, PASSWORD);
    // Recovery codes count, too.
    for wrong in ["000000", "ABCD-EFGH-IJKL-MNOP", "00000a", "111111", "x y z 0 1 2"] {
        assert_eq!(thief.post("/sign-in/code", &[("code", wrong)]).status(), 422, "{wrong}");
    }
    assert_eq!(thief.get("/sign-in/code").status(), 404, "the first factor has to be proved again");
    assert_eq!(thief.post("/sign-in/code", &[("code", &codes[0])]).status(), 401);
    assert_eq!(world.events_of("five codes refused"), 1);
    assert_eq!(world.subjects()[before..], ["Wrong codes for your account"]);
    sign_in(&thief, PASSWORD);
    let refused = thief.post("/sign-in/code", &[("code", &world.code(&totp))]);
    assert_eq!((refused.status().as_u16(), refused.header("retry-after")), (429, Some("60")));
    // The owner's browser has tries of its own.
    ada.post("/sign-out", &[]);
    sign_in(&ada, PASSWORD);
    assert_eq!(ada.post("/sign-in/code", &[("code", &world.code(&totp))]).text(), "welcome");
    let mut tried = 5;
    for _ in 0..24 * 60 {
        world.clock.advance(Duration::from_mins(1));
        if thief.get("/sign-in/code").status() != 200 {
            sign_in(&thief, PASSWORD);
        }
        tried += u32::from(thief.post("/sign-in/code", &[("code", "00000a")]).status() == 422);
    }
    assert!((30..=44).contains(&tried), "{tried} codes in a day");
}

#[test]
fn codes_that_set_up_a_second_factor_are_bounded_and_end_a_fresh_proof() {
    let (world, ada) = World::with_ada();
    assert_eq!(ada.get("/second-factor").status(), 200);
    assert_eq!(ada.get("/delete").status(), 200);
    let wrong = (0..9).filter(|_| ada.post("/second-factor", &[("code", "00000a")]).status() == 422).count();
    assert_eq!((wrong, ada.get("/delete").status().as_u16(), ada.get("/profile").status().as_u16()), (5, 401, 200));
    assert_eq!(world.events_of("second factor refused"), 5);
    sign_in(&ada, PASSWORD);
    assert_eq!(ada.get("/second-factor").status(), 200);
    assert_eq!(ada.post("/second-factor", &[("code", "00000a")]).status(), 429);
}

#[test]
fn an_owner_gets_a_mail_about_what_a_thief_would_do() {
    let world = World::with(|setup| setup.notices = true);
    let (world, ada) = world.and_ada();
    assert_eq!(world.subjects(), ["Welcome"], "who signs up knows it");
    let told = |since: usize| world.subjects()[since..].join(", ");
    let count = || world.subjects().len();
    sign_in(&ada, PASSWORD);
    assert_eq!(told(1), "", "the browser is known");
    let before = count();
    let other = world.at("192.0.2.1");
    let request =
        other.request(skep::Method::POST, "/sign-in").header("user-agent", "Mozilla/5.0 (X11; Linux) Firefox/140.0");
    assert_eq!(request.form(&[("email", ADA), ("password", PASSWORD)]).send().text(), "welcome");
    assert_eq!(told(before), "New sign-in");
    let mail = world.client().mails().pop().unwrap();
    assert!(
        mail.to == ADA && mail.text.contains("Firefox on Linux") && mail.text.contains("192.0.2.1"),
        "{}",
        mail.text
    );
    let before = count();
    other.post("/sign-out", &[]);
    sign_in(&other, PASSWORD);
    assert_eq!(told(before), "", "it is known by now");
    assert_eq!(ada.post("/password", &[("old", PASSWORD), ("new", "a new bee in it")]).text(), "changed");
    assert_eq!(told(before), "Your password was changed");
    ada.post("/reset", &[("email", ADA)]);
    let before = count();
    assert!(
        world
            .client()
            .post(world.link().trim_end_matches("#form"), &[("password", PASSWORD)])
            .text()
            .contains("sign in")
    );
    assert_eq!(told(before), "Your password was reset");
    sign_in(&ada, PASSWORD);
    let before = count();
    world.with_second_factor(&ada);
    assert_eq!(told(before), "Two-factor authentication is on");
    ada.post("/email", &[("email", "lovelace@example.org")]);
    let link = world.client().mails().into_iter().rfind(|mail| mail.subject == "Your new address").unwrap();
    let path = link.text.split_once("http://localhost").unwrap().1.to_owned();
    let before = count();
    assert_eq!(ada.post(&path, &[]).text(), "confirmed");
    assert_eq!(told(before), "Your e-mail address was changed");
    assert_eq!(world.client().mails().pop().unwrap().to, ADA, "to the old address");
}

#[test]
fn a_mail_that_cannot_be_sent_keeps_nobody_from_signing_in() {
    use skep::mail::{Delivery, Mail, Mailer};
    struct Broken;
    impl Mailer for Broken {
        fn send(&self, _mail: Mail) -> Delivery {
            Box::pin(async { Err("the mail server is down".into()) })
        }
    }
    let (world, _) = World::with_ada();
    let hash = world.text("select password from user");
    let world = World::with(|setup| {
        setup.notices = true;
        setup.mailer = Some(Arc::new(Broken));
    });
    let insert = query("insert into user (email, password) values ('ada@example.org', ?)", &*hash);
    world.site.db().write(|db| db.execute(insert)).unwrap();
    assert_eq!(sign_in(&world.client(), PASSWORD).text(), "welcome");
}

#[test]
fn a_number_that_comes_again_does_not_begin_with_a_known_browser() {
    let setup = || World::with(|setup| setup.notices = true);
    // The row with this number is another one; it has another password; it is as it was.
    for (change, is_known) in [
        ("update user set random = hex(randomblob(16))", false),
        ("update user set password = replace(password, 'p=1$', 'p=1$a')", false),
        ("update user set totp = null", true),
    ] {
        let (world, ada) = setup().and_ada();
        let before = world.subjects().len();
        world.site.db().write(|db| db.execute(query(change, ()))).unwrap();
        ada.post("/sign-in/link", &[("email", ADA)]);
        ada.post(&world.link(), &[]);
        assert_eq!(ada.get("/profile").status(), 200, "{change}");
        let notices = world.subjects()[before..].iter().filter(|subject| *subject == "New sign-in").count();
        assert_eq!(notices, usize::from(!is_known), "{change}");
    }
}

#[derive(Service)]
#[service(POST "/in-otherwise", open = "a test")]
struct InOtherwise;

impl Handle for InOtherwise {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let user = User::find(cx, "1").await?.or_404()?;
        skep_people::sign_in(cx, &user).await?;
        Ok(Response::text("welcome"))
    }
}

#[derive(Service)]
#[service(POST "/reset-typed", open = "a test")]
struct ResetTyped {
    #[form]
    email: Text<0, 200>,
}

impl Handle for ResetTyped {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        skep_people::send_reset_link::<User>(cx, self.email.as_str(), |to, _| Mail::new(to, "Reset", "A link")).await?;
        Ok(Response::text("sent"))
    }
}

#[test]
fn who_signs_in_without_a_name_is_known_by_none() {
    // Users may choose what they are called, and this one is called like Ada's address.
    let (world, _) = World::of(app::app().serve(services![InOtherwise, ResetTyped])).and_ada();
    let eve = world.at("192.0.2.77");
    assert_eq!(eve.post("/in-otherwise", &[]).text(), "welcome");
    let guesses = (0..30).filter(|_| guess(&eve) == 422).count();
    assert_eq!(guesses, 10, "those of a stranger");
}

#[test]
fn a_mail_goes_to_an_address_alone() {
    let (world, _) = World::of(app::app().serve(services![InOtherwise, ResetTyped])).and_ada();
    let stranger = world.at("192.0.2.1");
    let ask = |email: &str| stranger.post("/reset-typed", &[("email", email)]).status().as_u16();
    for email in ["x1 <ada@example.org>", "\"x2\" <ada@example.org>", "ada@example.org, bob@example.org", "ada", ""] {
        assert_eq!(ask(email), 422, "{email}");
    }
    assert_eq!((0..9).filter(|_| ask(" ada@example.org") == 200).count(), 5);
}
