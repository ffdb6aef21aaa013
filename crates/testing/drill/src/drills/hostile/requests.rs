//! Clients that send whole requests, only more of them and others than anybody needs; and what their neighbours do
//! meanwhile.

use std::io::{self, Write};

use skep_client::Response;

use super::Client;
use crate::client::{Browser, is_closed};

/// A form with 900 files of 65 000 bytes for a field that takes one of 100 KB, without an end.
pub(super) fn small_parts(client: &mut Client) -> io::Result<()> {
    let part = format!(
        "--x\r\nContent-Disposition: form-data; name=\"picture\"; filename=\"a\"\r\nContent-Type: image/png\r\n\r\n{}\r\n",
        "x".repeat(65_000)
    );
    let mut stream = client.connect()?;
    let head = "POST /attach HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 60000000\r\n\r\n";
    stream.write_all(head.as_bytes())?;
    for number in 1..=900 {
        stream.write_all(part.as_bytes())?;
        if number % 16 == 0 {
            client.count(1);
        }
    }
    // It is held for the next turns, while another one comes.
    client.streams.push(stream);
    if client.streams.len() > 2 {
        client.streams.remove(0);
    }
    client.streams.retain(|stream| !is_closed(stream));
    Ok(())
}

/// A form with as many rows as a list may have, none of them complete, which is shown again with a message for each.
pub(super) fn form_rows(client: &mut Client) -> io::Result<()> {
    let rows: Vec<String> = (0..256).map(|row| format!("lines.{row}.product=a")).collect();
    let response = client.browser.post("/order", &rows.join("&"))?;
    client.count(1);
    refuse_unless(client, &response, 422);
    Ok(())
}

/// A session that nobody needs.
pub(super) fn sessions(client: &mut Client) -> io::Result<()> {
    client.browser.forget_cookies();
    let response = client.browser.post("/begin", "")?;
    client.count(1);
    refuse_unless(client, &response, 200);
    Ok(())
}

/// A form that is accepted once, fetched and sent by somebody else each time.
pub(super) fn tokens(client: &mut Client) -> io::Result<()> {
    client.browser.forget_cookies();
    let response = submit_once(&mut client.browser)?;
    client.count(1);
    refuse_unless(client, &response, 303);
    Ok(())
}

/// A page that nobody has asked for yet.
pub(super) fn cache_keys(client: &mut Client) -> io::Result<()> {
    let number = (u64::from(client.from.octets()[3]) << 40) + client.turn;
    let response = client.browser.get(&format!("/article/{number}"))?;
    client.count(1);
    refuse_unless(client, &response, 200);
    Ok(())
}

/// A form of another site, which is refused.
pub(super) fn foreign_forms(client: &mut Client) -> io::Result<()> {
    let response = client.browser.post_from_elsewhere("/write", "text=a")?;
    client.count(1);
    refuse_unless(client, &response, 403);
    Ok(())
}

/// Counts any other status than this as one that the server gives to get rid of the client.
fn refuse_unless(client: &Client, response: &Response, status: u16) {
    client.refused(u64::from(response.status != status));
}

/// Fetches the form and sends it.
fn submit_once(browser: &mut Browser) -> io::Result<Response> {
    let page = browser.get("/checkout")?;
    let token = once_token(&String::from_utf8_lossy(&page.body)).unwrap_or_default();
    browser.post("/checkout", &format!("skep-once={token}"))
}

/// The value of the hidden field.
fn once_token(page: &str) -> Option<String> {
    let (_, field) = page.split_once("name=\"skep-once\"")?;
    let (_, value) = field.split_once("value=\"")?;
    Some(value.split('"').next()?.to_owned())
}

/// A client that pays can do so.
pub(super) fn pay(browser: &mut Browser) -> Result<(), String> {
    expect(submit_once(browser), 303, "")
}

/// Signs in if nobody is, and is ann from then on.
pub(super) fn stay_signed_in(browser: &mut Browser) -> Result<(), String> {
    if !browser.has_cookies() {
        expect(browser.post("/sign-in", ""), 200, "ann")?;
    }
    expect(browser.get("/who"), 200, "ann")
}

/// Signs in each time, which needs a thread for blocking work.
pub(super) fn sign_in_and_ask(browser: &mut Browser) -> Result<(), String> {
    expect(browser.post("/sign-in", ""), 200, "ann")?;
    expect(browser.get("/who"), 200, "ann")
}

/// A cached page is there, whether it is cached still or not.
pub(super) fn cached_page(browser: &mut Browser) -> Result<(), String> {
    expect(browser.get("/kept"), 200, "")
}

fn expect(response: io::Result<Response>, status: u16, text: &str) -> Result<(), String> {
    let response = response.map_err(|error| error.to_string())?;
    let body = String::from_utf8_lossy(&response.body);
    if response.status != status {
        return Err(format!("status {} instead of {status}", response.status));
    }
    if !text.is_empty() && body != text {
        return Err(format!("{body:?} instead of {text:?}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::once_token;

    #[test]
    fn the_token_is_found_in_the_page() {
        let page = r#"<form><input type="hidden" name="skep-once" value="ab_c-"><button>"#;
        assert_eq!((once_token(page).as_deref(), once_token("<form>")), (Some("ab_c-"), None));
    }
}
