//! What a session costs a request, on this machine's disk: a whole request through `LocalSite::answer`, on one thread.
//!
//! `none` touches no session and is the floor. `get` reads one value, and `set` and `update` store one. `memory` keeps
//! sessions in the process, `sqlite` in a file, with its writes done at once on the same thread (`Inline`). A server
//! hands them to another thread; what that costs is `handed_over` in the bench `sql`. Run:
//! `cargo bench -p skep --bench session --features local-tiers`.

fn main() {
    divan::main();
}

mod request {
    use std::sync::Arc;

    use divan::Bencher;
    use skep::prelude::*;
    use skep::session::Key;
    use skep::test::Client;
    use skep::{Body, LocalSite, Request, Setup};

    const COUNT: Key<u64> = Key::new("count");

    #[derive(Service)]
    #[service(POST "/{what}")]
    struct Do {
        what: String,
    }

    impl Handle for Do {
        async fn handle(self, cx: &mut Cx<'_>) -> Result {
            let count = match &*self.what {
                "get" => cx.session().get(&COUNT).await?.unwrap_or(0),
                "set" => cx.session().set(&COUNT, &1).await.map(|()| 1)?,
                "update" => cx.session().update(&COUNT, |count| count.unwrap_or(0) + 1).await?,
                _ => 0,
            };
            Ok(Response::text(count.to_string()))
        }
    }

    const WHAT: [&str; 4] = ["none", "get", "set", "update"];

    #[divan::bench(args = WHAT)]
    fn memory(bench: Bencher<'_, '_>, what: &str) {
        let mut setup = Setup::default();
        setup.temporary_database = true;
        answer(bench, what, setup);
    }

    #[divan::bench(args = WHAT)]
    fn sqlite(bench: Bencher<'_, '_>, what: &str) {
        let folder = tempfile::tempdir().expect("there is a disk");
        let mut setup = Setup::default();
        folder.path().clone_into(&mut setup.data);
        answer(bench, what, setup);
    }

    fn answer(bench: Bencher<'_, '_>, what: &str, setup: Setup) {
        let site = Arc::new(App::new().serve(services![Do]).open(setup).expect("it starts"));
        let client = Client::of_site(&site);
        client.post("/update", &[]);
        let cookie = format!("skep-session={}", client.cookie("skep-session").expect("there is a session"));
        let (local, url): (LocalSite, _) = (site.local(), format!("/{what}"));
        bench.bench_local(|| {
            let request = http::Request::post(&url).header("sec-fetch-site", "same-origin").header("cookie", &cookie);
            let (parts, ()) = request.body(()).expect("it is a request").into_parts();
            let response = skep_cache::driver::block_on(local.answer(Request::new(parts, Body::empty())));
            assert_eq!(response.status(), 200);
        });
    }
}
