//! Unit tests of `log::access`.

use std::time::UNIX_EPOCH;

use super::*;

fn written(layout: &str, line: &AccessLine<'_>) -> String {
    let setting = AccessOutput::parse(&format!("stdout {layout}")).unwrap();
    let now = UNIX_EPOCH + Duration::from_millis(1_795_246_200_001);
    let mut out = Vec::new();
    setting.layout.write(&mut out, line, now, b"TIME");
    String::from_utf8(out).unwrap()
}

fn example(target: &str) -> AccessLine<'_> {
    AccessLine {
        peer: "::1",
        method: "GET",
        target,
        version: "HTTP/1.1",
        status: Some(StatusCode::OK),
        bytes: 13,
        time: Duration::from_micros(85),
        ..AccessLine::default()
    }
}

fn line(target: &str) -> String {
    written("layout=text", &example(target)).strip_prefix("TIME").unwrap().to_owned()
}

#[test]
fn a_line_has_all_that_is_asked_for() {
    assert_eq!(line("/a?b=c"), " ::1 GET /a?b=c 200 13 85\n");
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let full = AccessLine { id: Some(0xabc), trace: Some(trace), user: Some("a b\n"), ..example("/") };
    let expected = format!("TIME ::1 GET / 200 13 85 0000000000000abc trace={trace} user=a\\u{{20}}b\\u{{a}}\n");
    assert_eq!(written("", &full), expected);
}

#[test]
fn combined_and_json_have_the_header_fields() {
    let full = AccessLine {
        referer: Some("/\"?token=1&a=b"),
        agent: Some("x\ny"),
        user: Some("ann b"),
        id: Some(1),
        ..example("/a?token=1")
    };
    assert_eq!(
        written("layout=combined", &full),
        "::1 - ann_b [21/Nov/2026:07:30:00 +0000] \"GET /a?token=*** HTTP/1.1\" 200 13 \"/\\\"?token=***&a=b\" \"x\\u{a}y\"\n"
    );
    assert_eq!(
        written("layout=json", &full),
        "{\"time\":\"TIME\",\"peer\":\"::1\",\"method\":\"GET\",\"target\":\"/a?token=***\",\"version\":\"HTTP/1.1\",\
         \"referer\":\"/\\\"?token=***&a=b\",\"agent\":\"x\\ny\",\"request\":\"0000000000000001\",\"user\":\"ann b\",\"status\":200,\"bytes\":13,\
         \"micros\":85}\n"
    );
}

#[test]
fn a_pattern_has_the_letters_of_apache() {
    assert_eq!(written("pattern=\"%h %l %>s %D%% %{Referer}i %{id}x|%m\"", &example("/")), "::1 - 200 85% - -|GET\n");
    let problem = |text: &str| AccessOutput::parse(text).unwrap_err();
    assert!(problem("stdout pattern=%q").starts_with("there is no %q: expected one of %h"));
    assert_eq!(problem("stdout pattern=%"), "a pattern ends after a %: write %% for one");
}

#[test]
fn a_rule_chooses_requests() {
    let taken = |rule: &str, lines: &[AccessLine<'_>]| {
        let setting = AccessOutput::parse(&format!("stdout {rule}")).unwrap();
        let passed = std::cell::Cell::new(0);
        lines.iter().map(|line| setting.rule.takes(line, &passed)).collect::<Vec<_>>()
    };
    let failed = || AccessLine { status: Some(StatusCode::NOT_FOUND), ..example("/missing") };
    let slow = || AccessLine { time: Duration::from_secs(2), ..example("/static/x") };
    let broken = || AccessLine { status: None, ..example("/") };
    let all = [example("/"), failed(), slow(), broken()];
    assert_eq!(taken("", &all), [true; 4]);
    assert_eq!(taken("status=400", &all), [false, true, false, true]);
    assert_eq!(taken("slow=1s", &all), [false, false, true, false]);
    assert_eq!(taken("status=400 slow=1s", &all), [false, true, true, true]);
    assert_eq!(taken("except=/static,/health", &all), [true, true, false, true]);
    let many = [example("/"), example("/"), failed(), example("/"), example("/")];
    assert_eq!(taken("sample=3", &many), [false, false, true, true, false]);
}

#[test]
fn secrets_do_not_reach_the_log() {
    assert_eq!(
        line("/in?user=ada&Password=x&to%6ben=y&token"),
        " ::1 GET /in?user=ada&Password=***&to%6ben=***&token 200 13 85\n"
    );
}

#[test]
fn a_target_cannot_forge_a_line() {
    assert_eq!(line("/a\"\\"), " ::1 GET /a\\\"\\\\ 200 13 85\n");
}
