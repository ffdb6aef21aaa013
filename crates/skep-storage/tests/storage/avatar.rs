//! A picture that is uploaded, resized and shown: the example of `docs/guides/forms/files.md`.

use std::io::Cursor;

use image::{ImageFormat, ImageReader};
use skep::form::{FileKind, Upload};
use skep::prelude::*;
use skep::sql::{Migration, Migrations, query};
use skep_storage::prelude::*;

const MIGRATIONS: Migrations = Migrations::new(&[Migration::new(
    1,
    "0001_member.sql",
    "create table member (id integer primary key, avatar text) strict;
     insert into member (id) values (1)",
)]);

/// A picture of at most 5 MB.
struct Picture;

impl FileKind for Picture {
    const ACCEPT: Option<&'static str> = Some("image/png,image/jpeg");
    const MAX: u64 = 5_000_000;
}

#[derive(Service)]
#[service(POST "/avatar", page = Profile)]
struct SetAvatar {
    #[form]
    picture: Upload<Picture>,
}

impl Handle for SetAvatar {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let picture = self.picture.read().await?;
        let small = cx.offload(move || resized(&picture)).await?;
        let small = small.map_err(|_| SetAvatar::picture.refuse("This picture cannot be read."))?;
        let file = cx.store_file(NewFile::new("avatar.jpg", "image/jpeg", small)).await?;
        let update = query("update member set avatar = ? where id = 1", &file);
        cx.transaction().await?.execute(update).await?;
        Ok(Response::see_other(Profile))
    }
}

/// Within 320 x 320 pixels, and without what the camera wrote beside the picture.
fn resized(picture: &[u8]) -> image::ImageResult<Vec<u8>> {
    let picture = ImageReader::new(Cursor::new(picture)).with_guessed_format()?.decode()?;
    let is_large = picture.width().max(picture.height()) > 320; // else it would grow
    let small = if is_large { picture.thumbnail(320, 320) } else { picture };
    let mut jpeg = Cursor::new(Vec::new());
    small.to_rgb8().write_to(&mut jpeg, ImageFormat::Jpeg)?;
    Ok(jpeg.into_inner())
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
