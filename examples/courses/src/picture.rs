//! The picture of a course, small enough for its page.

use std::io::Cursor;

use image::{ImageFormat, ImageReader};
use skep::form::{FileKind, Upload};
use skep::prelude::*;
use skep_language::prelude::*;
use skep_people::Allowed;
use skep_storage::prelude::*;

use crate::account::Staff;
use crate::course::Course;
use crate::edit::Edit;
use crate::show::Show;

/// The picture of a course.
#[derive(Service)]
#[service(GET "/courses/{id}/picture", open = "courses are for everybody")]
pub struct Picture {
    /// The course.
    pub id: i64,
}

/// Replaces the picture of a course.
#[derive(Service)]
#[service(POST "/courses/{id}/picture", page = Edit::link(id), guard = Allowed<Staff>)]
pub struct SetPicture {
    id: i64,
    /// A photograph.
    #[form]
    pub picture: Upload<Photo>,
}

/// A photograph of at most 8 MB.
#[derive(Debug)]
pub struct Photo;

impl FileKind for Photo {
    const ACCEPT: Option<&'static str> = Some("image/png,image/jpeg");
    const MAX: u64 = 8_000_000;
}

/// The form.
pub(crate) fn form(cx: &Cx<'_>, course: &Course) -> Html {
    html! {
        form (SetPicture::form(cx, course.id)) {
            h2 { (t!(cx, picture)) }
            label (SetPicture::picture) { (t!(cx, picture_hint)) }
            input (SetPicture::picture);
            div.buttons { button { (t!(cx, save)) } }
        }
    }
}

impl Handle for Picture {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let picture = Course::find(cx.db(), self.id).await?.picture.or_404()?;
        cx.send_stored(&picture).await
    }
}

impl Handle for SetPicture {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let old = Course::find(cx.db(), self.id).await?.picture;
        let photo = self.picture.read().await?;
        let small = cx.offload(move || resized(&photo)).await?;
        let small = small.map_err(|_| Self::picture.refuse(t!(cx, unreadable_picture)))?;
        let file = cx.store_file(NewFile::new("course.jpg", "image/jpeg", small)).await?;
        let update = sql!("update course set picture = ? where id = ?", &file, self.id);
        cx.transaction().await?.execute(update).await?;
        if let Some(old) = old {
            cx.delete_stored(&old).await?;
        }
        Ok(Response::see_other(Show::link(self.id)))
    }
}

/// Within 960 x 640 pixels, and without what the camera wrote beside the picture.
fn resized(photo: &[u8]) -> image::ImageResult<Vec<u8>> {
    let photo = ImageReader::new(Cursor::new(photo)).with_guessed_format()?.decode()?;
    let is_small = photo.width() <= 960 && photo.height() <= 640;
    let (small, mut jpeg) = (if is_small { photo } else { photo.thumbnail(960, 640) }, Cursor::new(Vec::new()));
    small.to_rgb8().write_to(&mut jpeg, ImageFormat::Jpeg)?;
    Ok(jpeg.into_inner())
}
