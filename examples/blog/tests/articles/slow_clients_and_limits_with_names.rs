//! The Rust of the article `slow-clients-and-limits-with-names`.

use skep::prelude::*;

#[derive(Service)]
#[service(POST "/guestbook", body = 16_384)]
struct Entry {
    #[form]
    text: String,
}

#[derive(Service)]
#[service(POST "/photos", body = 8_388_608)]
struct Upload;

impl Handle for Upload {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let photo = cx.read_body().await?;
        Ok(Response::text(format!("{} bytes, thank you", photo.len())))
    }
}

impl Handle for Entry {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.text))
    }
}

#[test]
fn each_service_has_a_limit_of_its_own() {
    let client = skep::test::Client::new(App::new().serve(services![Entry, Upload]));
    assert_eq!(client.post("/guestbook", &[("text", &"x".repeat(20_000))]).status(), 413);
    let photo = client.request(skep::Method::POST, "/photos").body("image/jpeg", vec![0u8; 20_000]).send();
    assert_eq!(photo.text(), "20000 bytes, thank you");
}
