//! The studio on the database of its package: SQLite, or PostgreSQL (`cargo xtask test external`).

use std::sync::OnceLock;
use std::time::Duration;

use courses::account::User;
use courses::app;
use courses::course::CourseFields;
use courses::edit::Save;
use serde_json::Value;
use skep::cache::Clock;
use skep::mail::Mail;
use skep::sql::query;
use skep::test::{Client, TestResponse};
use skep::{Method, Secret, Setup};
use skep_cluster::Cluster;
use skep_people::pages::{CreateAccount, SignUp};
use skep_people::test::SignIn;

const THEO: &str = "theo@example.org";
const MIA: &str = "mia@example.org";
const MAX: &str = "max@example.org";

/// A studio in January 2027, with a trainer and two members, one of whom is in London.
struct Studio {
    client: Client,
}

impl Studio {
    fn open() -> Self {
        static CLUSTER: OnceLock<Cluster> = OnceLock::new();
        let mut setup = Setup::default();
        (setup.temporary_database, setup.clock) = (true, Clock::manual());
        if env!("CARGO_PKG_NAME") == "courses-postgres" {
            setup.database = Some(Secret::new(CLUSTER.get_or_init(Cluster::start).address()));
        }
        let studio = Self { client: Client::with_setup(app(), setup) };
        studio.account(THEO, "trainer", "de", "Europe/Berlin");
        studio.account(MIA, "member", "en", "Europe/London");
        studio.account(MAX, "member", "de", "Europe/Berlin");
        studio
    }

    fn account(&self, email: &str, role: &str, language: &str, zone: &str) {
        let insert = "insert into account (email, name, password, role, language, zone) values (?, ?, '-', ?, ?, ?)";
        let insert = query::<()>(insert, (email, email, role, language, zone));
        self.client.site().db().write(|db| db.execute(insert)).unwrap();
    }

    /// A browser of somebody who has signed in.
    fn browser(&self, email: &str) -> Client {
        let client = Client::of_site(self.client.site());
        client.sign_in_as::<User>(email);
        client
    }

    /// What Theo makes of the form for courses.
    fn course(&self, places: &str, starts: &str, weeks: &str) -> TestResponse {
        let fields = format!(
            "course.title=Linocut&course.about=Cut+a+block.&course.level=all&course.trainer_id=1&course.minutes=120\
            &course.places={places}&course.price=28.5&when.starts={starts}&weeks={weeks}"
        );
        self.browser(THEO).request(Method::POST, "/courses").body("application/x-www-form-urlencoded", fields).send()
    }

    /// They book the first course, one after the other.
    fn book(&self, members: &[&str]) -> Vec<TestResponse> {
        members.iter().map(|email| self.browser(email).post("/courses/1/booking", &[])).collect()
    }

    /// Mails that are due, the last one last.
    fn mails(&self) -> Vec<Mail> {
        let ran = skep_jobs::test::run_due(&self.client);
        assert!(ran.iter().all(skep_jobs::test::Ran::is_done), "{ran:?}");
        self.client.mails()
    }
}

#[test]
fn who_waits_moves_up_and_gets_a_mail() {
    let studio = Studio::open();
    assert_eq!(studio.course("1", "2027-01-20T18:30", "1").url(), "/courses/1");
    let (mia, max) = (studio.browser(MIA), studio.browser(MAX));
    assert!(mia.post("/courses/1/booking", &[]).text().contains("You have a place."));
    let waits = max.post("/courses/1/booking", &[]);
    assert!(waits.text().contains("Sie stehen an Stelle 1 der Warteliste."), "{}", waits.text());
    // Again changes nothing.
    max.post("/courses/1/booking", &[]);
    assert!(mia.get("/bookings").text().contains("Linocut"));
    let subjects: Vec<String> = studio.mails().into_iter().map(|mail| mail.subject).collect();
    assert_eq!(subjects, ["Linocut: your place", "Linocut: Warteliste"]);

    assert!(mia.post("/courses/1/booking/cancel", &[]).text().contains("The booking is cancelled."));
    assert!(max.get("/courses/1").text().contains("Sie haben einen Platz."));
    let mail = studio.mails().pop().unwrap();
    assert_eq!((&*mail.to, &*mail.subject), (MAX, "Linocut: Ihr Platz"));
    assert!(mail.text.contains("18:30") && mail.text.contains("Europe/Berlin"), "{}", mail.text);
    let calendar = String::from_utf8(mail.attachments[0].bytes.to_vec()).unwrap();
    for line in ["BEGIN:VEVENT", "DTSTART:20270120T173000Z", "DTEND:20270120T193000Z", "SUMMARY:Linocut"] {
        assert!(calendar.contains(line), "{line}: {calendar}");
    }
    assert_eq!(mia.get("/courses/1").text().matches("full").count(), 1);
    studio.client.site().setup().clock.advance(Duration::from_hours(24 * 6));
    assert_eq!(mia.post("/courses/1/booking", &[]).status(), 409);
}

#[test]
fn a_course_of_several_weeks_stays_at_its_hour() {
    let studio = Studio::open();
    studio.course("8", "2027-03-26T18:30", "2");
    let max = studio.browser(MAX);
    for (path, moment) in [("/courses/1", "2027-03-26T17:30:00Z"), ("/courses/2", "2027-04-02T16:30:00Z")] {
        let page = max.get(path);
        assert!(page.text().contains(moment) && page.text().contains("18:30"), "{}", page.text());
    }
    assert!(max.get("/?day=2027-04-04").text().contains("Linocut"));
    // The clocks go forward in this night, and back in the other.
    let gap = studio.course("8", "2027-03-28T02:30", "1");
    assert!(gap.status() == 422 && gap.text().contains("vorgestellt"), "{}", gap.text());
    assert!(!gap.text().contains("Das zweite Mal"));
    let twice = studio.course("8", "2027-10-31T02:30", "1");
    assert!(twice.status() == 422 && twice.text().contains("Das zweite Mal"), "{}", twice.text());
}

#[test]
fn an_edit_neither_undoes_another_nor_takes_places() {
    let studio = Studio::open();
    studio.course("2", "2027-01-20T18:30", "1");
    studio.book(&[MIA, MAX, THEO]);
    let theo = studio.browser(THEO);
    let (first, second) = (theo.get("/courses/1/edit").form::<Save>(), theo.get("/courses/1/edit").form::<Save>());
    let (title, places) = (|| Save::course.field(CourseFields::title), || Save::course.field(CourseFields::places));
    let fewer = first.set(places(), "1").submit();
    assert!(fewer.status() == 422 && fewer.text().contains("2 Plätze sind schon vergeben."), "{}", fewer.text());
    let saved = fewer.form::<Save>().set(title(), "Woodcut").set(places(), "3").submit();
    assert!(saved.text().contains("Gespeichert.") && saved.text().contains("Sie haben einen Platz."));

    let conflict = second.set(title(), "Etching").submit();
    assert_eq!(conflict.status(), 409);
    assert!(conflict.text().contains("Woodcut") && conflict.text().contains("Etching"), "{}", conflict.text());
    assert!(conflict.form::<Save>().set(places(), "3").submit().text().contains("<h1>Etching</h1>"));
    assert_eq!(studio.browser(MIA).get("/courses/1/edit").status(), 403);
}

#[test]
fn everybody_reads_their_own_language_and_clock() {
    let studio = Studio::open();
    studio.course("8", "2027-01-20T18:30", "1");
    let (mia, max) = (studio.browser(MIA), studio.browser(MAX));
    for (browser, texts) in [
        (&mia, ["<html lang=\"en\">", "5:30", "€28.50", "8 places free", "Everybody"]),
        (&max, ["<html lang=\"de\">", "18:30", "28,50", "8 Plätze frei", "Alle"]),
    ] {
        let page = browser.get("/courses/1");
        for text in texts {
            assert!(page.text().contains(text), "{text}: {}", page.text());
        }
    }
    let chosen = max.post("/language", &[("language", "en"), ("back", "/courses/1")]);
    assert!(chosen.url() == "/courses/1" && chosen.text().contains("8 places free"), "{}", chosen.text());
    let saved = max.post("/profile", &[("name", "Max"), ("language", "en"), ("zone", "Asia/Tokyo")]);
    assert!(saved.text().contains("Saved."), "{}", saved.text());
    assert!(max.get("/courses/1").text().contains("Jan 21, 2027"));
}

#[test]
fn the_day_before_everybody_is_reminded_once() {
    let studio = Studio::open();
    studio.course("1", "2027-01-17T18:30", "1");
    studio.book(&[MIA, MAX]);
    assert_eq!(studio.mails().len(), 2);
    // Each hour there is a run.
    for _ in 0..60 {
        studio.client.site().setup().clock.advance(Duration::from_hours(1));
        studio.mails();
    }
    let reminders = studio.mails().split_off(2);
    assert_eq!(reminders.len(), 1, "{reminders:?}");
    assert_eq!((&*reminders[0].to, &*reminders[0].subject), (MIA, "Linocut is tomorrow"));
}

#[test]
fn a_program_and_a_page_book_by_the_api() {
    let studio = Studio::open();
    studio.course("1", "2027-01-20T18:30", "1");
    let mia = studio.browser(MIA);
    let page = mia.post("/profile/token", &[]);
    let token = page.text().split("you see this once: ").nth(1).and_then(|rest| rest.split('<').next()).unwrap().trim();
    let program = Client::of_site(studio.client.site());
    let ask = |method, path: &str| program.request(method, path).header("authorization", &format!("Bearer {token}"));
    assert_eq!(ask(Method::PUT, "/api/courses/1/booking").send().text(), "{\"waiting\":false}");
    let week: Value = serde_json::from_str(ask(Method::GET, "/api/courses?day=2027-01-20").send().text()).unwrap();
    assert_eq!((&week["monday"], &week["courses"][0]["booking"]["waiting"]), (&"2027-01-18".into(), &false.into()));
    assert_eq!((&week["courses"][0]["price"], &week["courses"][0]["free"]), (&"28.50".into(), &0.into()));

    // The page of somebody who is signed in does the same with its cookie; another site does not.
    let max = studio.browser(MAX);
    let cross = max.request(Method::PUT, "/api/courses/1/booking").header("sec-fetch-site", "cross-site").send();
    assert_eq!(cross.status(), 403);
    let own = max.request(Method::PUT, "/api/courses/1/booking").header("sec-fetch-site", "same-origin").send();
    assert_eq!(own.text(), "{\"waiting\":true}");
    assert_eq!(ask(Method::DELETE, "/api/courses/1/booking").send().status(), 204);
    assert!(max.get("/courses/1").text().contains("Sie haben einen Platz."));
    assert_eq!(program.request(Method::PUT, "/api/courses/1/booking").send().status(), 401);
    assert!(program.get("/api.json").text().contains("\"/api/courses/{id}/booking\""));
}

#[test]
fn a_picture_is_made_smaller() {
    let studio = Studio::open();
    studio.course("1", "2027-01-20T18:30", "1");
    let (theo, mut png) = (studio.browser(THEO), std::io::Cursor::new(Vec::new()));
    let clay = image::RgbImage::from_pixel(1200, 600, image::Rgb([200, 90, 40]));
    clay.write_to(&mut png, image::ImageFormat::Png).unwrap();
    let send = |bytes: &[u8]| {
        let form = theo.get("/courses/1/edit").form::<Save>();
        form.attach(Save::picture, "bowl.png", "image/png", bytes).submit()
    };
    assert!(send(png.get_ref()).text().contains("src=\"/courses/1/picture\""));
    let picture = studio.client.get("/courses/1/picture");
    assert_eq!(picture.header("content-type"), Some("image/jpeg"));
    assert_eq!(send(b"\x89PNG\r\n\x1a\nno picture").status(), 422);
    // What is saved without another one keeps it.
    theo.get("/courses/1/edit").form::<Save>().submit();
    assert_eq!(studio.client.get("/courses/1/picture").bytes(), picture.bytes());
}

#[test]
fn participants_are_for_trainers() {
    let studio = Studio::open();
    studio.course("1", "2027-01-20T18:30", "1");
    let (mia, theo) = (studio.browser(MIA), studio.browser(THEO));
    mia.post("/profile", &[("name", "=1+1"), ("language", "en"), ("zone", "Europe/London")]);
    studio.book(&[MIA, MAX]);
    assert!(theo.get("/courses/1/participants").text().contains("<td>=1+1</td>"));
    let csv = theo.get("/courses/1/participants.csv");
    let rows = "\u{FEFF}\"name\",\"email\",\"waiting\"\r\n\"'=1+1\",\"mia@example.org\",\"false\"\r\n\
                \"max@example.org\",\"max@example.org\",\"true\"\r\n";
    assert_eq!(csv.text(), rows);
    for path in ["/courses/1/participants", "/courses/1/participants.csv", "/accounts", "/-/jobs"] {
        assert_eq!(mia.get(path).status(), 403, "{path}");
        assert!(studio.client.get(path).url().starts_with("/sign-in"), "{path}");
    }
}

#[test]
fn who_signs_up_is_a_member() {
    let studio = Studio::open();
    let visitor = studio.client.clone();
    let sent = visitor.get("/sign-up").form::<SignUp>().set(SignUp::email, "New@example.org").submit();
    assert!(sent.text().contains("We have sent you a mail."), "{}", sent.text());
    let mail = visitor.mails().pop().unwrap();
    let path = mail.text.trim().split_once("/sign-up/").expect("a link").1;
    let form = visitor.get(&format!("/sign-up/{path}")).form::<CreateAccount>().set(CreateAccount::name, "Nora");
    assert_eq!(form.set(CreateAccount::password, "a straw basket").submit().url(), "/");
    assert_eq!(visitor.get("/courses/new").status(), 403);
    assert!(visitor.get("/bookings").text().contains("You have booked nothing."));
    studio.account("ada@example.org", "admin", "en", "Europe/Berlin");
    let ada = studio.browser("ada@example.org");
    assert!(ada.post("/accounts/5", &[("role", "trainer")]).status() == 409, "not herself");
    assert!(ada.post("/accounts/4", &[("role", "trainer")]).text().contains("Saved."));
    assert_eq!(visitor.get("/courses/new").status(), 200);
}

#[test]
fn lists_are_filtered_and_have_pages() {
    let studio = Studio::open();
    studio.course("8", "2027-01-20T18:30", "12");
    studio.course("8", "2027-01-21T18:30", "12");
    let first = studio.client.get("/courses?level=all&trainer=1");
    let (_, next) = first.text().split_once("rel=\"next\" href=\"").expect("a second page");
    let next = studio.client.get(&next.split('"').next().unwrap().replace("&amp;", "&"));
    assert_eq!(first.text().matches("class=\"card\"").count(), 12);
    assert_eq!(next.text().matches("class=\"card\"").count(), 12);
    assert!(studio.client.get("/courses?level=beginner").text().contains("There are no courses."));
    assert_eq!(studio.client.get("/courses?trainer=2").status(), 400, "Mia gives no courses");
}
