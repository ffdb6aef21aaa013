//! Photographs, made small enough for a page: the feature `image`.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageDecoder as _, ImageReader, ImageResult};
use skep::form::FileKind;

/// A photograph of at most 8 MB, PNG or JPEG, as a field: `picture: Upload<Photo>`. It is stored by
/// [`StorageCx::store_photo`](crate::StorageCx::store_photo).
#[derive(Debug)]
pub struct Photo;

impl FileKind for Photo {
    const ACCEPT: Option<&'static str> = Some("image/png,image/jpeg");
    const MAX: u64 = 8_000_000;
}

/// In per cent: what is smaller shows blocks.
const QUALITY: u8 = 85;

/// The photograph as JPEG, upright, of at most these pixels. Nothing of what the camera wrote into it is left, such as
/// the place. `image` itself refuses what would take more than 512 MiB of memory.
pub(crate) fn resized(photo: &[u8], width: u32, height: u32) -> ImageResult<Vec<u8>> {
    let mut decoder = ImageReader::new(Cursor::new(photo)).with_guessed_format()?.into_decoder()?;
    let orientation = decoder.orientation()?;
    let mut photo = DynamicImage::from_decoder(decoder)?;
    photo.apply_orientation(orientation);
    // A small one would grow.
    let is_large = photo.width() > width || photo.height() > height;
    let photo = if is_large { photo.thumbnail(width, height) } else { photo };
    let mut jpeg = Vec::new();
    photo.to_rgb8().write_with_encoder(JpegEncoder::new_with_quality(&mut jpeg, QUALITY))?;
    Ok(jpeg)
}
