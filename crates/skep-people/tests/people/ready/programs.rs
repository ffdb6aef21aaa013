//! Who is led to the page to sign in, and who gets 401.

use skep_people::Account as _;
use skep_people::test::SignIn as _;

use super::*;

#[test]
fn programs_and_scripts_get_401_where_people_get_the_page() {
    let (eve, _) = visitor();
    let ask = |path: &str, fields: &[(&str, &str)]| {
        let request = eve.request(Method::GET, path).without_redirects();
        fields.iter().fold(request, |request, (name, value)| request.header(name, value)).send()
    };
    let of_browser = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    for people in
        [&[][..], &[of_browser], &[("accept", "*/*")], &[("accept", "text/html"), ("sec-fetch-dest", "empty")]]
    {
        assert_eq!(ask("/", people).status(), 303, "{people:?}");
    }
    let script = &[("accept", "*/*"), ("sec-fetch-dest", "empty")][..];
    for program in [&[("accept", "application/json")][..], &[("accept", "text/event-stream")], script] {
        assert_eq!(ask("/", program).status(), 401, "{program:?}");
    }
    for fields in [&[][..], &[("accept", "*/*")], &[("accept", "application/json")]] {
        let refused = ask("/api/names", fields);
        let kind = refused.header("content-type");
        assert!(refused.status() == 401 && kind == Some("application/problem+json"), "{fields:?}: {kind:?}");
    }
    let posted = eve.request(Method::POST, "/api/names").json(&"Ada").without_redirects().send();
    assert_eq!((posted.status().as_u16(), posted.header("content-type")), (401, Some("application/problem+json")));
}

#[test]
fn what_is_secret_in_a_path_is_not_in_the_way_back() {
    let (eve, _) = visitor();
    let path = "/invitations/q8JmX0cYxk3mZ5oQe1r2t3u4v5w6x7y8";
    assert_eq!(eve.get(path).url(), "/sign-in");
    assert_eq!(eve.get("/house").url(), "/sign-in?back=%2Fhouse");
    let referer = format!("http://localhost{path}");
    assert_eq!(eve.request(Method::POST, "/token").header("referer", &referer).send().url(), "/sign-in");
}

#[test]
fn the_language_is_that_of_who_asks_and_not_of_another_account() {
    let (ada, _) = visitor();
    sign_up(&ada, ADA);
    sign_up(&another(&ada), "bo@example.org");
    write(&ada, "update member set language = 'de' where mail = 'bo@example.org'");
    assert_eq!(ada.get("/language-at/2").text(), "Ada: en, not de");
    write(&ada, "update member set language = 'de'");
    let token = ada.post("/token", &[]).text().to_owned();
    let program = another(&ada);
    let asked = program.request(Method::GET, "/api/language");
    assert_eq!(asked.header("authorization", &format!("Bearer {token}")).send().text(), "de");
}

#[test]
fn who_has_no_password_finds_the_way_to_one() {
    let (ada, _) = visitor();
    sign_up(&ada, ADA);
    let page = ada.get("/change-password");
    assert!(page.text().contains("autocomplete=\"username\" value=\"ada@example.org\""), "{}", page.text());
    write(&ada, "update member set password = null");
    let member = ada.with_cx(async |cx| app::Member::find(cx, "1").await).unwrap().unwrap();
    ada.sign_in(&member);
    let page = ada.get("/change-password");
    assert!(page.text().contains("You have no password yet.") && page.text().contains("/forgotten-password"));
    assert!(!page.text().contains("<form"), "{}", page.text());
}
