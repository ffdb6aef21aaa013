//! The Rust of the article `forged-forms-without-tokens`.

use skep::prelude::*;

#[derive(Service)]
#[service(POST "/bookings")]
struct Booking {
    #[form]
    plot: u8,
}

impl Handle for Booking {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(format!("plot {}", self.plot)))
    }
}

impl Handle for Report {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("noted"))
    }
}

/// The payment provider reports here. It signs what it sends.
#[derive(Service)]
#[service(POST "/payments/reports", cross_origin = "signed by the payment provider")]
struct Report;

fn app() -> App {
// Pages of a partner may send us forms.
let app = App::new().serve(services![Booking]).trust_origin("https://partner.example");
app.serve(services![Report])
}

use skep::Method;

#[test]
fn another_site_cannot_book() {
    let client = skep::test::Client::new(app());
    let forged = client
        .request(Method::POST, "/bookings")
        .header("sec-fetch-site", "cross-site")
        .form(&[("plot", "12")])
        .send();
    assert_eq!(forged.status(), 403);
}
