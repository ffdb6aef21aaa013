//! A picture that is uploaded, resized and shown: the example of `docs/guides/forms/files.md`.

use std::io::Cursor;

use image::ImageFormat;
use skep::form::Upload;
use skep::prelude::*;
use skep::sql::{Migration, Migrations, query};
use skep_storage::prelude::*;

const MIGRATIONS: Migrations = Migrations::new(&[Migration::new(
    1,
    "0001_member.sql",
    "create table member (id integer primary key, avatar text) strict;
     insert into member (id) values (1)",
)]);

#[derive(Service)]
#[service(POST "/avatar", page = Profile)]
struct SetAvatar {
    #[form]
    picture: Upload<Photo>,
}

impl Handle for SetAvatar {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let file = cx.store_photo(&self.picture, 320, 320).await?;
        let file = file.map_err(|error| SetAvatar::picture.refuse(error.to_string()))?;
        let update = query("update member set avatar = ? where id = 1", &file);
        cx.transaction().await?.execute(update).await?;
        Ok(Response::see_other(Profile))
    }
}

/// The form, and the picture.
#[derive(Service)]
#[service(GET "/profile")]
struct Profile;

impl Handle for Profile {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! {
            (DOCTYPE)
            html lang="en" {
                head { title { "Profile" } }
                body {
                    img src=(Avatar) alt="Your picture";
                    form (SetAvatar::form(cx)) {
                        label (SetAvatar::picture) { "Picture" }
                        input (SetAvatar::picture);
                        button { "Upload" }
                    }
                }
            }
        }))
    }
}

#[derive(Service)]
#[service(GET "/avatar")]
struct Avatar;

impl Handle for Avatar {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let select = query::<Option<FileRecord>>("select avatar from member where id = 1", ());
        let file = cx.db().one(select).await?.flatten().or_404()?;
        cx.send_stored(&file).await
    }
}

fn app() -> App {
    App::new().database(MIGRATIONS).serve(services![SetAvatar, Profile, Avatar]).storage()
}

#[test]
fn a_picture_is_resized_and_shown() {
    let client = skep::test::Client::new(app());
    let mut png = Cursor::new(Vec::new());
    image::RgbImage::new(800, 400).write_to(&mut png, ImageFormat::Png).unwrap();
    let upload = |bytes: &[u8]| {
        let request = client.request(skep::Method::POST, "/avatar");
        request.files(&[], &[("picture", "me.png", "image/png", bytes)]).send().status()
    };
    assert_eq!(client.get("/avatar").status(), 404);
    assert_eq!(upload(png.get_ref()), 200);
    let shown = client.get("/avatar");
    assert_eq!(shown.header("content-type"), Some("image/jpeg"));
    assert!(shown.header("content-disposition").unwrap().contains("me.jpg"));
    let small = image::load_from_memory(shown.body()).unwrap();
    assert_eq!((small.width(), small.height()), (320, 160));
    // A small one stays as it is.
    let mut png = Cursor::new(Vec::new());
    image::RgbImage::new(40, 20).write_to(&mut png, ImageFormat::Png).unwrap();
    assert_eq!(upload(png.get_ref()), 200);
    let small = image::load_from_memory(client.get("/avatar").body()).unwrap();
    assert_eq!((small.width(), small.height()), (40, 20));
}

/// The status, and the page.
fn refused(bytes: &[u8]) -> (u16, String) {
    let client = skep::test::Client::new(app());
    let request = client.request(skep::Method::POST, "/avatar");
    let response = request.files(&[], &[("picture", "me.png", "image/png", bytes)]).send();
    (response.status().as_u16(), response.text().to_owned())
}

#[test]
fn a_picture_that_is_damaged_or_has_too_many_pixels_is_refused() {
    let mut png = Cursor::new(Vec::new());
    image::RgbImage::new(40, 20).write_to(&mut png, ImageFormat::Png).unwrap();
    let (status, page) = refused(&png.get_ref()[..50]);
    assert!(status == 422 && page.contains("cannot be read"), "{page}");
    // 45 million pixels, of which each takes 8 bytes, and more than there is memory.
    for header in [png_header(9_000, 5_000, 16), png_header(60_000, 60_000, 8)] {
        let (status, page) = refused(&header);
        assert!(status == 422 && page.contains("at most 50 million"), "{page}");
    }
}

/// The beginning of a PNG of this size with transparency, as far as a decoder reads before it allocates.
fn png_header(width: u32, height: u32, bits: u8) -> Vec<u8> {
    let mut header = [b"IHDR", &width.to_be_bytes()[..], &height.to_be_bytes(), &[bits, 6, 0, 0, 0]].concat();
    let sum = crc(&header);
    header.splice(0..0, *b"\x89PNG\r\n\x1a\n\0\0\0\x0d");
    header.extend(sum.to_be_bytes());
    let data = [&b"IDAT"[..], &[0; 64]].concat();
    [&header[..], &64_u32.to_be_bytes(), &data, &crc(&data).to_be_bytes()].concat()
}

/// The CRC-32 of PNG (ISO 3309).
fn crc(bytes: &[u8]) -> u32 {
    let step = |sum: u32, _| if sum & 1 == 1 { 0xEDB8_8320 ^ (sum >> 1) } else { sum >> 1 };
    !bytes.iter().fold(u32::MAX, |sum, &byte| (0..8).fold(sum ^ u32::from(byte), step))
}

#[test]
fn what_is_transparent_becomes_white() {
    let (client, mut png) = (skep::test::Client::new(app()), Cursor::new(Vec::new()));
    image::RgbaImage::from_pixel(400, 400, image::Rgba([0, 0, 0, 0])).write_to(&mut png, ImageFormat::Png).unwrap();
    let files = [("picture", "me.png", "image/png", png.get_ref().as_slice())];
    assert_eq!(client.request(skep::Method::POST, "/avatar").files(&[], &files).send().status(), 200);
    let shown = image::load_from_memory(client.get("/avatar").body()).unwrap().into_rgb8();
    assert!(shown.pixels().all(|pixel| pixel.0.iter().all(|&channel| channel > 250)));
}

/// What a camera writes that was held sideways: turn it by 90 degrees (Exif, tag 0x0112).
const SIDEWAYS: &[u8] = b"\xFF\xE1\0\x22Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";

#[test]
fn a_photograph_is_upright_and_says_nothing_of_its_camera() {
    let (client, mut jpeg) = (skep::test::Client::new(app()), Cursor::new(Vec::new()));
    image::RgbImage::new(800, 400).write_to(&mut jpeg, ImageFormat::Jpeg).unwrap();
    let (start, rest) = jpeg.get_ref().split_at(2);
    let photo = [start, SIDEWAYS, rest].concat();
    let files = [("picture", "me.jpg", "image/jpeg", &photo[..])];
    assert_eq!(client.request(skep::Method::POST, "/avatar").files(&[], &files).send().status(), 200);
    let shown = client.get("/avatar");
    let upright = image::load_from_memory(shown.body()).unwrap();
    assert_eq!((upright.width(), upright.height()), (160, 320));
    assert!(!shown.body().windows(4).any(|bytes| bytes == b"Exif"));
}
