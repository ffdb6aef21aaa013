//! An interface that pages of the site call by the session of their user, and programs by a token.

use skep::Method;
use skep::prelude::*;
use skep::test::TestResponse;
use skep_people::{Account, SignedOrBearer};

use super::app::{User, app};
use super::ending::CreateToken;
use super::*;

macro_rules! calls {
    ($($name:ident $method:ident;)*) => {$(
        #[derive(Service)]
        #[service($method "/api/me")]
        struct $name { #[guard] user: SignedOrBearer<User> }

        impl Handle for $name {
            async fn handle(self, _cx: &mut Cx<'_>) -> Result {
                Ok(Response::text(self.user.name().to_owned()))
            }
        }
    )*};
}

calls! {
    Read GET;
    Create POST;
    Replace PUT;
    Change PATCH;
    Remove DELETE;
}

const CHANGING: [Method; 4] = [Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

fn world() -> (World, Client) {
    World::of(app().serve(services![CreateToken, Read, Create, Replace, Change, Remove])).and_ada()
}

/// A request with these fields.
fn call(client: &Client, method: &Method, fields: &[(&str, &str)]) -> TestResponse {
    let request = client.request(method.clone(), "/api/me");
    fields.iter().fold(request, |request, (name, value)| request.header(name, value)).send()
}

#[test]
fn a_page_of_the_site_calls_by_its_session() {
    let (world, client) = world();
    sign_in(&client, PASSWORD);
    for method in [&[Method::GET][..], &CHANGING].concat() {
        assert_eq!(call(&client, &method, &[]).text(), ADA, "{method}");
        assert_eq!(call(&world.client(), &method, &[]).status(), 401, "{method}");
    }
}

#[test]
fn a_page_of_another_site_changes_nothing_by_a_session() {
    let (_world, client) = world();
    sign_in(&client, PASSWORD);
    for method in CHANGING {
        for site in ["cross-site", "same-site"] {
            assert_eq!(call(&client, &method, &[("sec-fetch-site", site)]).status(), 403, "{method} {site}");
        }
        // A browser that says nothing has no form with a token here.
        let old = client.clone().without_fetch_metadata();
        assert_eq!(call(&old, &method, &[]).status(), 403, "{method}");
        assert_eq!(call(&old, &method, &[("origin", "https://evil.example")]).status(), 403, "{method}");
        assert_eq!(call(&old, &method, &[("origin", "http://localhost")]).text(), ADA, "{method}");
    }
}

#[test]
fn a_program_calls_by_its_token_alone() {
    let (world, client) = world();
    sign_in(&client, PASSWORD);
    let token = format!("Bearer {}", client.post("/tokens", &[]).text());
    let program = world.client().without_fetch_metadata();
    for method in [&[Method::GET][..], &CHANGING].concat() {
        assert_eq!(call(&program, &method, &[("authorization", &token)]).text(), ADA, "{method}");
        // A session beside a wrong token does not help.
        for wrong in ["Bearer wrong", "Basic YTpi", ""] {
            assert_eq!(call(&client, &method, &[("authorization", wrong)]).status(), 401, "{method} {wrong}");
        }
    }
}
