//! The help-desk without a socket: who sees and may do what, forms, attachments, languages, the audit trail.

#[path = "support/common.rs"]
mod common;

use common::{ADA, ALICE, BERT, CARLA, Desk, KARL};
use helpdesk::comment::{AddComment, AddNote};
use helpdesk::new_ticket::CreateTicket;
use helpdesk::profile::SaveProfile;
use helpdesk::sign_in::SignIn;
use helpdesk::sign_up::{CreateAccount, SignUp};
use helpdesk::triage::Triage;
use skep::Method;
use skep::test::{Client, TestResponse};

#[test]
fn who_is_not_signed_in_is_sent_to_sign_in_and_back() {
    let desk = Desk::new();
    let client = desk.visitor();
    assert_eq!(client.get("/").url(), "/status");
    let asked = client.get("/tickets?status=open");
    assert_eq!(asked.url(), "/sign-in?back=%2Ftickets%3Fstatus%3Dopen");
    let form = asked.form::<SignIn>();
    let answer = form.set(SignIn::email, CARLA).set(SignIn::password, helpdesk::demo::PASSWORD).submit();
    assert_eq!((answer.status().as_u16(), answer.url()), (200, "/tickets?status=open"));
    assert_eq!(client.get("/").url(), "/tickets");
}

#[test]
fn nothing_but_its_module_writes_the_audit_trail() {
    let statements = skep::sql::statements();
    let writers = statements.iter().filter(|statement| statement.writes().contains(&"audit"));
    let files: Vec<&str> = writers.map(|statement| statement.file()).collect();
    assert!(matches!(files.as_slice(), [file] if file.ends_with("src/audit.rs")), "{files:?}");
}

#[test]
fn nobody_is_led_to_another_site() {
    let desk = Desk::new();
    let client = desk.visitor();
    let form = client.get("/sign-in?back=//evil.example").form::<SignIn>();
    let answer = form.set(SignIn::email, CARLA).set(SignIn::password, helpdesk::demo::PASSWORD).submit();
    assert_eq!(answer.url(), "/tickets");
}

#[test]
fn a_name_is_tried_ten_times() {
    let desk = Desk::new();
    let client = desk.visitor();
    let wrong = [("email", CARLA), ("password", "wrong")];
    for _ in 0..10 {
        let answer = client.post("/sign-in", &wrong);
        assert_eq!(answer.status(), 422);
        assert!(answer.text().contains("E-mail address or password is wrong."), "{}", answer.text());
    }
    let refused = client.post("/sign-in", &[("email", CARLA), ("password", helpdesk::demo::PASSWORD)]);
    assert_eq!(refused.status(), 429);
    assert!(refused.header("retry-after").is_some());
}

#[test]
fn an_account_is_made_by_the_owner_of_an_address_and_is_a_customer() {
    let desk = Desk::with(|setup| setup.temporary_database = true);
    let client = desk.visitor();
    let sent = sign_up(&client, "eve@example.org");
    assert_eq!((sent.status().as_u16(), sent.url()), (200, "/sign-up/sent"));
    let mail = client.mails().pop().unwrap();
    let link = mail.text.split_once("http://localhost").unwrap().1.trim().to_owned();
    let page = client.get(&link);
    assert!(mail.to == "eve@example.org" && page.text().contains("eve@example.org"), "{}", page.text());
    let form = || page.form::<CreateAccount>().set(CreateAccount::name, "Eve");
    let refused = form().set(CreateAccount::password, "password123!").submit();
    assert_eq!(refused.status(), 422);
    assert!(refused.text().contains("guessed first"), "{}", refused.text());
    let made = form().set(CreateAccount::password, "a bee in the bonnet").submit();
    assert_eq!((made.status().as_u16(), made.url()), (200, "/tickets"));
    assert!(made.text().contains("My tickets") && made.text().contains("No tickets here."), "{}", made.text());
    let again = desk.visitor().get(&link);
    assert!(again.status() == 404 && again.text().contains("has been used"), "{}", again.text());
    let trail = desk.signed_in(ADA).get("/audit").text().to_owned();
    assert!(trail.contains("/sign-up/***") && !trail.contains(&link), "{trail}");
}

#[test]
fn signing_up_tells_nobody_but_its_owner_that_an_address_has_an_account() {
    let desk = Desk::with(|setup| setup.temporary_database = true);
    let answer = |email: &str| {
        let client = desk.visitor();
        let sent = client.request(Method::POST, "/sign-up").form(&[("email", email)]).without_redirects().send();
        let page = client.get("/sign-up/sent").text().to_owned();
        (sent.status(), sent.headers().clone(), sent.text().to_owned(), page)
    };
    let (unknown, known) = (answer("eve@example.org"), answer("CARLA@example.org"));
    assert_eq!(unknown, known);
    let subjects: Vec<(String, String)> =
        desk.visitor().mails().into_iter().map(|mail| (mail.to, mail.subject)).collect();
    let (welcome, has) = ("Your account at the help-desk", "You have an account at the help-desk");
    let expected = [("eve@example.org", welcome), (CARLA, has)];
    assert_eq!(subjects, expected.map(|(to, subject)| (to.to_owned(), subject.to_owned())));
}

fn sign_up(client: &Client, email: &str) -> TestResponse {
    client.get("/sign-up").form::<SignUp>().set(SignUp::email, email).submit()
}

/// Every path, as each role gets it. What is not yours is not there.
#[test]
fn each_role_gets_its_pages() {
    let desk = Desk::new();
    let (carla, alice, ada) = (desk.signed_in(CARLA), desk.signed_in(ALICE), desk.signed_in(ADA));
    for (path, customer, agent, admin) in [
        ("/tickets", 200, 200, 200),
        ("/tickets/new", 200, 200, 200),
        // Carla's, and Karl's.
        ("/tickets/1", 200, 200, 200),
        ("/tickets/2", 404, 200, 200),
        ("/tickets/999", 404, 404, 404),
        ("/tickets.csv", 403, 200, 200),
        ("/profile", 200, 200, 200),
        ("/users", 403, 403, 200),
        ("/audit", 403, 403, 200),
        ("/tickets?page=0", 400, 400, 400),
    ] {
        let statuses = [&carla, &alice, &ada].map(|client| client.get(path).status().as_u16());
        assert_eq!(statuses, [customer, agent, admin], "{path}");
    }
    for (path, customer, agent) in [
        ("/tickets/2/comments", 404, 422),
        ("/tickets/1/notes", 403, 422),
        ("/tickets/1/triage", 403, 422),
        ("/users/5", 403, 403),
    ] {
        let text = if path.ends_with("comments") { [("text", "x")] } else { [("nothing", "")] };
        assert_eq!(carla.post(path, &text).status(), customer, "{path}");
        assert_eq!(alice.post(path, &[]).status(), agent, "{path}");
    }
}

#[test]
fn other_sites_change_nothing() {
    let desk = Desk::new();
    let carla = desk.signed_in(CARLA);
    for path in ["/tickets", "/tickets/1/comments", "/profile", "/profile/tokens", "/sign-out"] {
        let forged =
            carla.request(Method::POST, path).header("sec-fetch-site", "cross-site").form(&[("text", "x")]).send();
        assert_eq!(forged.status(), 403, "{path}");
    }
}

#[test]
fn a_ticket_goes_to_and_fro() {
    let desk = Desk::new();
    let (carla, alice) = (desk.signed_in(CARLA), desk.signed_in(ALICE));
    let form = carla.get("/tickets/new").form::<CreateTicket>();
    let form = form.set(CreateTicket::title, "No <ink>").set(CreateTicket::text, "It is *empty*.\nAgain.");
    let made = form.set(CreateTicket::tags, "Printer, ink").submit();
    assert_eq!(made.status(), 200);
    let path = made.url().to_owned();
    let page = made.text();
    assert!(page.contains("Thank you. This is ticket 31.") && page.contains("No &lt;ink&gt;"), "{page}");
    assert!(page.contains("/tickets?tag=printer") && page.contains("/tickets?tag=ink"), "{page}");
    assert!(page.contains("badge open") && !page.contains("/triage"), "{page}");

    let answered = alice.get(&path).form::<AddComment>().set(AddComment::text, "Which printer?").submit();
    assert!(answered.text().contains("badge waiting"), "{}", answered.text());
    let noted = alice.get(&path).form::<AddNote>().set(AddNote::note, "She always asks in November.").submit();
    assert!(noted.text().contains("She always asks"), "{}", noted.text());
    let seen = carla.get(&path);
    assert!(seen.text().contains("Which printer?") && !seen.text().contains("She always asks"), "{}", seen.text());

    let form = alice.get(&path).form::<Triage>().set(Triage::status, "solved").set(Triage::priority, "low");
    let sorted = form.check(Triage::take).submit();
    let page = sorted.text();
    assert!(page.contains("badge solved") && page.contains("<dd>Alice Agent</dd>"), "{page}");
    // It is the agents' turn again.
    let back = carla.get(&path).form::<AddComment>().set(AddComment::text, "Still none.").submit();
    assert!(back.text().contains("badge open"), "{}", back.text());
}

#[test]
fn two_agents_do_not_undo_each_other() {
    let desk = Desk::new();
    let (alice, ada) = (desk.signed_in(ALICE), desk.signed_in(ADA));
    let (first, second) = (alice.get("/tickets/1").form::<Triage>(), ada.get("/tickets/1").form::<Triage>());
    let first = first.set(Triage::status, "waiting").set(Triage::priority, "high").set(Triage::tags, "urgent");
    assert_eq!(first.submit().status(), 200);

    let refused = second.set(Triage::status, "solved").set(Triage::priority, "high").submit();
    assert_eq!(refused.status(), 409);
    let page = refused.text();
    assert!(page.contains("Somebody else changed this while you were editing it"), "{page}");
    for now in ["Waiting", "urgent"] {
        assert!(page.contains(&format!("Somebody else changed this to: {now}<")), "{page}");
    }
    // What both chose is no conflict; what Ada chose is still there, and nothing of it is saved.
    assert!(!page.contains("changed this to: High"), "{page}");
    assert!(page.contains("value=\"solved\" selected") && page.contains("badge waiting"), "{page}");

    assert!(refused.form::<Triage>().submit().text().contains("badge solved"));
}

#[test]
fn what_is_wrong_with_a_form_is_said_beside_the_field() {
    let desk = Desk::new();
    let carla = desk.signed_in(CARLA);
    let form = carla.get("/tickets/new").form::<CreateTicket>();
    let refused = form.set(CreateTicket::title, "No").set(CreateTicket::text, "A long story.").submit();
    assert_eq!(refused.status(), 422);
    assert!(
        refused.text().contains("class=\"problem\"") && refused.text().contains("A long story.</textarea>"),
        "{}",
        refused.text()
    );
}

#[test]
fn lists_are_filtered_sorted_searched_and_paged() {
    let desk = Desk::new();
    let alice = desk.signed_in(ALICE);
    let count = |path: &str| alice.get(path).text().matches("class=\"title\"").count();
    assert_eq!(count("/tickets"), 20);
    assert_eq!(count("/tickets?page=2"), 10);
    assert_eq!(count("/tickets?page=3"), 0);
    assert_eq!(count("/tickets?status=solved"), 5);
    assert_eq!(count("/tickets?status=open&priority=high"), 5);
    assert_eq!(count("/tickets?tag=printer"), 5);
    assert_eq!(count("/tickets?q=videokonf"), 5);
    assert_eq!(count("/tickets?q=stripes+floor"), 5);
    // In a comment.
    assert_eq!(count("/tickets?q=picture+report"), 15);
    assert_eq!(count("/tickets?q=%22%27%3B--"), 20);
    let first = |path: &str| {
        let page = alice.get(path);
        let link =
            page.text().split("class=\"title\" href=\"/tickets/").nth(1).unwrap().split('"').next().unwrap().to_owned();
        link.parse::<u32>().unwrap()
    };
    assert_eq!((first("/tickets?order=oldest"), first("/tickets")), (1, 30));
    assert_eq!(first("/tickets?order=priority") % 6, 5);
    let page = alice.get("/tickets?status=open&order=oldest");
    assert!(page.text().contains("selected>Open</option>"), "{}", page.text());
    assert!(page.text().contains("/tickets.csv?status=open&amp;order=oldest"), "{}", page.text());
    assert_eq!(alice.get("/tickets?status=shut").status(), 400);
}

#[test]
fn customers_find_their_own_tickets_only() {
    let desk = Desk::new();
    let (carla, karl, alice) = (desk.signed_in(CARLA), desk.signed_in(KARL), desk.signed_in(ALICE));
    let secret = alice.get("/tickets/1").form::<AddNote>().set(AddNote::note, "zebra").submit();
    assert_eq!(secret.status(), 200);
    let count = |client: &skep::test::Client, path: &str| client.get(path).text().matches("class=\"title\"").count();
    assert_eq!((count(&carla, "/tickets"), count(&karl, "/tickets")), (15, 15));
    assert_eq!((count(&carla, "/tickets?q=zebra"), count(&alice, "/tickets?q=zebra")), (0, 1));
    assert_eq!((count(&carla, "/tickets?q=videokonf"), count(&karl, "/tickets?q=videokonf")), (0, 5));
}

#[test]
fn an_attachment_is_for_those_who_see_its_comment() {
    let desk = Desk::new();
    let (carla, karl, alice) = (desk.signed_in(CARLA), desk.signed_in(KARL), desk.signed_in(ALICE));
    let form = carla.get("/tickets/1").form::<AddComment>().set(AddComment::text, "See here.");
    let sent = form.attach(AddComment::files, "../Drücker.txt", "text/plain", b"stripes").submit();
    assert!(sent.text().contains("href=\"/attachments/1\"") && sent.text().contains("7 B"), "{}", sent.text());
    let got = carla.get("/attachments/1");
    assert_eq!((got.status().as_u16(), got.text()), (200, "stripes"));
    assert!(got.header("content-disposition").unwrap().starts_with("attachment; "), "{:?}", got.headers());
    let part = carla.request(Method::GET, "/attachments/1").header("range", "bytes=0-3").send();
    assert_eq!((part.status().as_u16(), part.text()), (206, "stri"));
    assert_eq!(alice.get("/attachments/1").status(), 200);
    assert_eq!(karl.get("/attachments/1").status(), 404);
    assert_eq!(desk.visitor().get("/attachments/1").url(), "/sign-in?back=%2Fattachments%2F1");
    let form = carla.get("/tickets/1").form::<AddComment>().set(AddComment::text, "And here.");
    let refused = form.attach(AddComment::files, "a.png", "image/png", b"<script>").submit();
    assert_eq!(refused.status(), 422);
}

#[test]
fn each_user_has_a_language() {
    let desk = Desk::new();
    let (carla, bert) = (desk.signed_in(CARLA), desk.signed_in(BERT));
    let german = bert.get("/tickets").text().to_owned();
    assert!(german.contains("<html lang=\"de\">") && german.contains("Dringend</option>"), "{german}");
    assert!(bert.get("/users").text().contains("Dies ist für Verwalter."));
    let refused = bert.post("/tickets/1/comments", &[("text", "")]);
    assert!(refused.text().contains("Bitte ausfüllen."), "{}", refused.text());

    assert!(carla.get("/tickets").text().contains("<html lang=\"en\">"));
    let saved = carla.get("/profile").form::<SaveProfile>().set(SaveProfile::language, "de").submit();
    assert!(saved.text().contains("Gespeichert.") && saved.text().contains("<html lang=\"de\">"), "{}", saved.text());
    // Whatever the browser would like.
    let page = carla.request(Method::GET, "/tickets/999").header("accept-language", "en").send();
    assert!(page.text().contains("Nicht gefunden"), "{}", page.text());
    let visitor = desk.visitor().request(Method::GET, "/sign-in").header("accept-language", "de-AT, en;q=0.5").send();
    assert!(visitor.text().contains("Anmelden"), "{}", visitor.text());
}

/// The rest is tried in a browser.
#[test]
fn passkeys_need_a_script_and_the_page_says_so() {
    let desk = Desk::with(|setup| setup.temporary_database = true);
    let bert = desk.signed_in(BERT);
    let profile = bert.get("/profile").text().to_owned();
    assert!(profile.contains("Passkey hinzufügen") && profile.contains("Passkeys brauchen JavaScript"), "{profile}");
    assert!(desk.visitor().get("/sign-in").text().contains("Passkeys need JavaScript"));
    let refused = bert.post("/profile/passkeys", &[("name", "Laptop"), ("passkey", "")]);
    assert!(refused.status() == 403 && refused.text().contains("Dieser Passkey wurde nicht"), "{}", refused.text());
    assert_eq!(bert.post("/profile/passkeys/none", &[("new_name", "Laptop")]).status(), 404);
    assert_eq!(bert.post("/profile/passkeys/none/remove", &[]).status(), 404);
}

/// On a site that does not know its address, each attempt would fail.
#[test]
fn passkeys_are_shown_where_they_can_work() {
    let shown = |base: Option<&str>| {
        let desk = Desk::with(|setup| setup.base_url = base.map(|base| base.parse().unwrap()));
        let bert = desk.signed_in(BERT);
        [desk.visitor().get("/sign-in"), bert.get("/profile")].map(|page| page.text().contains("data-passkey"))
    };
    assert_eq!(shown(Some("https://help.example.org")), [true, true]);
    assert_eq!(shown(None), [false, false]);
    assert_eq!(shown(Some("https://192.0.2.1")), [false, false]);
}

#[test]
fn the_status_page_is_one_for_all_and_follows_the_tickets() {
    let desk = Desk::new();
    let carla = desk.signed_in(CARLA);
    let page = carla.get("/status");
    assert_eq!(page.header("cache-control"), Some("public, no-cache"));
    assert_eq!(page.header("set-cookie"), None);
    assert!(page.text().contains("All is well") && !page.text().contains("Carla"), "{}", page.text());
    let form = carla.get("/tickets/new").form::<CreateTicket>().set(CreateTicket::title, "Fire");
    let made = form.set(CreateTicket::text, "It burns.").set(CreateTicket::priority, "urgent").submit();
    assert_eq!(made.status(), 200);
    assert!(carla.get("/status").text().contains("We work on one urgent ticket."));
    let german = carla.request(Method::GET, "/status").header("accept-language", "de").send();
    assert!(german.text().contains("Wir arbeiten an einem dringenden Ticket."), "{}", german.text());
}

#[test]
fn what_waits_too_long_becomes_urgent() {
    let desk = Desk::new();
    let alice = desk.signed_in(ALICE);
    assert!(!alice.get("/tickets/1").text().contains("Escalated"));
    helpdesk::escalation::run(&desk.site).unwrap();
    assert!(alice.get("/tickets/1").text().contains("Escalated"));
    // It waits for its customer.
    assert!(!alice.get("/tickets/3").text().contains("Escalated"));
    assert!(alice.get("/status").text().contains("urgent tickets"));
}

#[test]
fn administrators_change_roles_and_lock_accounts_at_once() {
    let desk = Desk::new();
    let (ada, carla) = (desk.signed_in(ADA), desk.signed_in(CARLA));
    assert_eq!(ada.post("/users/4", &[("role", "agent")]).status(), 200);
    assert_eq!(carla.get("/tickets/2").status(), 200);
    assert_eq!(ada.post("/users/4", &[("role", "customer"), ("locked", "on")]).status(), 200);
    assert_eq!(carla.get("/tickets/1").url(), "/sign-in?back=%2Ftickets%2F1");
    assert_eq!(ada.post("/users/1", &[("role", "customer")]).status(), 409);
    assert_eq!(ada.get("/users").status(), 200);
}

/// The address is what passkeys belong to, and nobody has said it.
#[test]
fn without_a_base_url_there_are_no_passkeys_and_nothing_is_broken() {
    let desk = Desk::new();
    let (carla, reader) = (desk.signed_in(CARLA), desk.visitor());
    assert!(!reader.get("/sign-in").text().contains("data-passkey"));
    let answers = [
        reader.get("/sign-in/passkey"),
        carla.get("/profile/passkeys"),
        reader.post("/sign-in/passkey", &[("passkey", "{}")]),
        carla.post("/profile/passkeys", &[("name", "Phone"), ("passkey", "{}")]),
    ];
    for answer in answers {
        assert!(answer.status().is_client_error(), "{} {}: {:?}", answer.url(), answer.status(), answer.cause());
    }
    assert!(reader.get("/sign-in/passkey").text().contains("this site has no passkeys"));
}

#[test]
fn every_change_is_on_record_and_nothing_else() {
    let desk = Desk::new();
    let (ada, carla) = (desk.signed_in(ADA), desk.signed_in(CARLA));
    let _ = carla.get("/tickets");
    let _ = carla.post("/tickets/1/comments", &[("text", "Hello?")]);
    // Refused: there is nothing to record.
    let _ = carla.post("/tickets/2/comments", &[("text", "Hello?")]);
    let _ = carla.post("/tickets/1/comments", &[("text", "")]);
    let trail = ada.get("/audit");
    let rows: Vec<&str> = trail.text().split("<tr>").skip(2).collect();
    assert_eq!(rows.len(), 3, "{}", trail.text());
    assert!(
        rows[0].contains(CARLA) && rows[0].contains("AddComment") && rows[0].contains("/tickets/1/comments"),
        "{}",
        rows[0]
    );
    assert!(rows[1].contains(CARLA) && rows[1].contains("SignIn"), "{}", rows[1]);
    assert!(rows[2].contains(ADA) && rows[2].contains("SignIn"), "{}", rows[2]);
}

#[test]
fn a_spreadsheet_gets_what_the_list_has() {
    let desk = Desk::new();
    let alice = desk.signed_in(ALICE);
    let csv = alice.get("/tickets.csv?status=solved&order=oldest");
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8"));
    let lines: Vec<&str> = csv.text().lines().collect();
    assert_eq!(lines.len(), 6);
    assert_eq!(lines[0], "id,title,status,priority,customer,agent,tags,created,changed");
    assert!(
        lines[1].starts_with(
            "4,\"A new keyboard, please\",\"solved\",\"low\",\"Karl Kunde\",\"Alice Agent\",\"hardware\","
        ),
        "{}",
        lines[1]
    );
}

#[test]
fn an_administrator_of_the_settings_is_instead_of_the_demo() {
    let settings = [("helpdesk.admin", "root@example.org"), ("helpdesk.admin_password", "a long secret")];
    let client = skep::test::Client::with_settings(helpdesk::app(), &settings);
    let form = client.get("/sign-in").form::<SignIn>();
    assert!(!client.get("/sign-in").text().contains("straw basket"));
    let signed_in = form.set(SignIn::email, "root@example.org").set(SignIn::password, "a long secret").submit();
    assert_eq!(signed_in.url(), "/tickets");
    assert_eq!(client.get("/users").status(), 200);
}
