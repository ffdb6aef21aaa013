//! The rules of responses and requests hold for a component as for a native application: the same cases, over both
//! protocols.

#[path = "../../../skep-server/tests/server/rules/cases.rs"]
mod cases;

use super::Test;
use super::guests;
use super::server::Server;

pub(crate) const TESTS: &[Test] = &[
    ("a_component_adds_no_content_to_a_status_without", || {
        component(cases::a_status_without_content_has_none_whatever_the_handler_says);
    }),
    ("what_the_server_says_beside_a_component_keeps_the_rules", || {
        component(cases::what_the_server_says_itself_keeps_the_rules_too);
    }),
    ("a_wrong_length_of_a_component_is_never_sent", || component(cases::a_length_that_is_wrong_is_never_sent)),
    ("a_component_gives_head_the_length_of_get", || {
        component(cases::a_response_to_head_has_the_length_of_the_one_to_get);
    }),
    ("a_component_refuses_a_body_in_a_coding_by_name", || component(cases::a_body_in_a_coding_is_refused_by_name)),
    ("a_component_reads_a_list_over_several_lines_as_one", || component(cases::a_list_over_several_lines_is_one_list)),
];

fn component(case: fn(&str)) {
    let component = guests::application("skep-isolate-app");
    // The code of both compilers says the same, and this one is there in a seventh of the time.
    let arguments = [component.to_str().unwrap(), "--baseline", "true", "--set", "workers=1"];
    case(&Server::start(&arguments).address);
}
