//! The Rust of how-to guides, compiled. `cargo xtask tidy` checks that the code of each page stands here, or is a
//! documentation test.
#![allow(dead_code, reason = "the code is written as the pages need it")]

mod background_work {
    use std::time::Duration;

    use skep::Site;
    use skep::prelude::*;

    macro_rules! sql { ($($input:tt)*) => { skep::sql!(in "tests/guides"; $($input)*) } }

    fn app() -> App {
        App::new().on_start(import).every("send reminders", Duration::from_mins(5), send_reminders)
    }

    /// Runs once, before the first request.
    fn import(site: &Site) -> Result<()> {
        let cities = std::fs::read_to_string(site.data().join("cities.txt"))?;
        site.db().write(|db| {
            db.transaction(|db| {
                for name in cities.lines() {
                    db.execute(sql!("insert or ignore into city (name) values (?)", name))?;
                }
                Ok(())
            })
        })?;
        Ok(())
    }

    /// Runs every five minutes.
    fn send_reminders(site: &Site) -> Result<()> {
        let due = sql!(String, "select address from reminder where at <= current_timestamp");
        for address in &site.db().write(|db| db.all(due))? {
            tracing_line(address);
        }
        Ok(())
    }

    fn tracing_line(_address: &str) {}
}

mod upload_files {
    use skep::form::{FileKind, Upload};
    use skep::prelude::*;

    /// A picture of at most 5 MB.
    struct Picture;

    impl FileKind for Picture {
        const ACCEPT: Option<&'static str> = Some("image/png,image/jpeg");
        const MAX: u64 = 5_000_000;
    }

    #[derive(Service)]
    #[service(GET "/pictures/new")]
    struct New;

    #[derive(Service)]
    #[service(POST "/pictures", page = New)]
    struct Add {
        #[form]
        picture: Upload<Picture>,
    }

    impl Handle for New {
        async fn handle(self, cx: &mut Cx<'_>) -> Result {
            Ok(Response::html(html! {
                form (Add::form(cx)) {
                    label (Add::picture) { "Picture" }
                    input (Add::picture);
                    button { "Upload" }
                }
            }))
        }
    }

    impl Handle for Add {
        async fn handle(self, cx: &mut Cx<'_>) -> Result {
            let target = cx.data().join("pictures").join(cx.id().to_string());
            self.picture.keep(target).await?;
            Ok(Response::see_other(New))
        }
    }

    #[test]
    fn a_picture_is_required() {
        let client = skep::test::Client::new(App::new().serve(services![New, Add]));
        let page = client.request(skep::Method::POST, "/pictures").files(&[], &[]).send();
        assert_eq!(page.status(), 422);
    }
}

mod test_an_application {
    use skep::prelude::*;
    use skep::test::Client;

    #[derive(Service)]
    #[service(GET "/")]
    struct Index;

    impl Handle for Index {
        async fn handle(self, _cx: &mut Cx<'_>) -> Result {
            Ok(Response::text("welcome"))
        }
    }

    fn app() -> App {
        App::new().serve(services![Index])
    }

    #[test]
    fn the_first_page_is_there() {
        let client = Client::new(app());
        let response = client.get(&Index.url());
        assert_eq!(response.status(), 200);
        assert_eq!(response.text(), "welcome");
    }

    #[test]
    fn in_development_an_error_page_shows_its_cause() {
        let mut setup = skep::Setup::default();
        setup.development = true;
        let client = Client::with_setup(app(), setup);
        assert_eq!(client.get("/nothing").status(), 404);
    }
}

mod hello {
    use skep::prelude::*;

    /// Its value is its link: `Greeting { name }` in an `href`.
    #[derive(Service)]
    #[service(GET "/hello/{name}")]
    struct Greeting {
        name: String,
    }

    impl Handle for Greeting {
        async fn handle(self, _cx: &mut Cx<'_>) -> Result {
            Ok(Response::html(html! { h1 { "Hello, " (self.name) "!" } }))
        }
    }

    fn main() -> std::process::ExitCode {
        skep_server::run(|| App::new().serve(services![Greeting]))
    }
}

mod settings {
    use std::time::Duration;

    use skep::prelude::*;
    use skep::settings::Settings;

    /// `[helpdesk]` in skep.toml, `SKEP_HELPDESK_SMTP`, `--set helpdesk.smtp=...`
    #[derive(Settings)]
    #[settings(table = "helpdesk")]
    struct Helpdesk {
        /// The mail server, such as mail.example.org:587.
        smtp: String,
        /// The password of the mail server.
        #[setting(secret)]
        password: Option<String>,
        /// How long a ticket stays open without a reply.
        #[setting(default = "14d")]
        close_after: Duration,
    }

    #[derive(Service)]
    #[service(GET "/")]
    struct Index;

    impl Handle for Index {
        async fn handle(self, cx: &mut Cx<'_>) -> Result {
            Ok(Response::text(cx.settings::<Helpdesk>().smtp.clone()))
        }
    }

    fn app() -> App {
        App::new().settings::<Helpdesk>().serve(services![Index])
    }

    #[test]
    fn the_setting_is_read() {
        let client = skep::test::Client::with_settings(app(), &[("helpdesk.smtp", "mail.example.org:587")]);
        assert_eq!(client.get("/").text(), "mail.example.org:587");
    }
}

mod opentelemetry {
    use skep::prelude::*;

    #[derive(Service)]
    #[service(GET "/weather")]
    struct Weather;

    impl Handle for Weather {
        async fn handle(self, cx: &mut Cx<'_>) -> Result {
            let traceparent = cx.traceparent(); // for the request to the other service: the header field `traceparent`
            Ok(Response::text(traceparent.unwrap_or_default()))
        }
    }
}

mod security_headers {
    use skep::SecurityHeaders;
    use skep::prelude::*;

    fn relaxed() -> SecurityHeaders {
        SecurityHeaders::new()
            .directive("style-src-attr", "'unsafe-inline'")
            .directive("img-src", "'self' https://images.example")
            .directive("frame-ancestors", "https://partner.example")
    }

    fn app() -> App {
        App::new().security_headers(relaxed())
    }

    fn widget() -> Result {
        let embeddable = SecurityHeaders::new().directive("frame-ancestors", "*");
        Response::html(html! { p { "12 °C" } }).with_security_headers(&embeddable)
    }

    fn trial() -> SecurityHeaders {
        SecurityHeaders::new().directive("script-src", "'none'").report_only().report_to("")
    }
}

mod sealed_links {
    use std::time::Duration;

    use skep::param::Token;
    use skep::prelude::*;
    use skep::sql::query;

    #[derive(Service)]
    #[service(GET "/unsubscribe/{token}")]
    struct Unsubscribe {
        token: Token,
    }

    impl Handle for Unsubscribe {
        async fn handle(self, cx: &mut Cx<'_>) -> Result {
            // None: expired, changed, or sealed for something else.
            let address: String = cx.unseal("unsubscribe", &self.token)?.or_404()?;
            Ok(Response::text(format!("no more mails to {address}")))
        }
    }

    fn link(cx: &Cx<'_>, address: &str) -> Result<String> {
        let token = cx.seal("unsubscribe", address, Duration::from_hours(24 * 365))?;
        Ok(cx.absolute(Unsubscribe { token: token.into() }))
    }

    async fn invoice(cx: &Cx<'_>, token: &str) -> Result<String> {
        let (id, random): (i64, String) = cx.unseal("invoice", token)?.or_404()?;
        let select = query("select text from invoice where id = ? and random = ?", (id, random));
        cx.db().one::<String>(select).await?.or_404()
    }
}
