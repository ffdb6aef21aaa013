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
        let file = file.ok_or_else(|| SetAvatar::picture.refuse("This picture cannot be read."))?;
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
    let small = image::load_from_memory(shown.body()).unwrap();
    assert_eq!((small.width(), small.height()), (320, 160));
    // A small one stays as it is.
    let mut png = Cursor::new(Vec::new());
    image::RgbImage::new(40, 20).write_to(&mut png, ImageFormat::Png).unwrap();
    assert_eq!(upload(png.get_ref()), 200);
    let small = image::load_from_memory(client.get("/avatar").body()).unwrap();
    assert_eq!((small.width(), small.height()), (40, 20));
    // It begins like a picture, and ends too early.
    assert_eq!(upload(&png.get_ref()[..50]), 422);
}

/// What a camera writes that was held sideways: turn it by 90 degrees (Exif, tag 0x0112).
const SIDEWAYS: &[u8] = b"\xFF\xE1\0\x22Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";

#[test]
fn a_photograph_is_upright_and_says_nothing_of_its_camera() {
    let (client, mut jpeg) = (skep::test::Client::new(app()), Cursor::new(Vec::new()));
    image::RgbImage::new(80, 40).write_to(&mut jpeg, ImageFormat::Jpeg).unwrap();
    let (start, rest) = jpeg.get_ref().split_at(2);
    let photo = [start, SIDEWAYS, rest].concat();
    let files = [("picture", "me.jpg", "image/jpeg", &photo[..])];
    assert_eq!(client.request(skep::Method::POST, "/avatar").files(&[], &files).send().status(), 200);
    let shown = client.get("/avatar");
    let upright = image::load_from_memory(shown.body()).unwrap();
    assert_eq!((upright.width(), upright.height()), (40, 80));
    assert!(!shown.body().windows(4).any(|bytes| bytes == b"Exif"));
}
