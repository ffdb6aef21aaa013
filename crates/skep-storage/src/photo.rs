//! Photographs, made small enough for a page: the feature `image`.

use std::fmt;
use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, ImageResult, RgbImage};
use skep::form::FileKind;

/// A photograph of at most 8 MB, PNG or JPEG, as a field: `picture: Upload<Photo>`. It is stored by
/// [`StorageCx::store_photo`](crate::StorageCx::store_photo).
#[derive(Debug)]
pub struct Photo;

impl FileKind for Photo {
    const ACCEPT: Option<&'static str> = Some("image/png,image/jpeg");
    const MAX: u64 = 8_000_000;
}

/// Why a photograph is not stored. Its text is for the user who sent it; an example is at
/// [`StorageCx::store_photo`](crate::StorageCx::store_photo).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhotoError {
    /// It is neither PNG nor JPEG, or damaged.
    Unreadable,
    /// It has more than 50 million pixels, or takes more than 200 MB once it is decoded: PNG with 16 bits a channel
    /// takes 8 bytes a pixel.
    TooLarge,
}

impl fmt::Display for PhotoError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Unreadable => "This picture cannot be read: it is neither PNG nor JPEG, or damaged.",
            Self::TooLarge => {
                "This picture is too large: at most 50 million pixels, or 25 million of 16 bits a colour."
            }
        })
    }
}

impl std::error::Error for PhotoError {}

/// In per cent: what is smaller shows blocks.
const QUALITY: u8 = 85;

/// What a camera makes; and a header of a few bytes may say more than there is memory.
const MAX_PIXELS: u64 = 50_000_000;

/// Of the decoded picture: four for each pixel.
const MAX_BYTES: u64 = 4 * MAX_PIXELS;

/// The photograph as JPEG, upright, of at most these pixels, what is transparent on white. Nothing of what the camera
/// wrote into it is left, such as the place.
pub(crate) fn resized(photo: &[u8], width: u32, height: u32) -> Result<Vec<u8>, PhotoError> {
    let mut decoder = decoder(photo)?;
    let (columns, rows) = decoder.dimensions();
    if u64::from(columns) * u64::from(rows) > MAX_PIXELS || decoder.total_bytes() > MAX_BYTES {
        return Err(PhotoError::TooLarge);
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let photo = DynamicImage::from_decoder(decoder).map_err(|_| PhotoError::Unreadable)?;
    let mut photo = thumbnail(on_white(photo), orientation, width, height);
    photo.apply_orientation(orientation);
    jpeg(&photo.into_rgb8()).map_err(|_| PhotoError::Unreadable)
}

/// An application whose own `image` reads more formats has no more of them here.
fn decoder(photo: &[u8]) -> Result<impl ImageDecoder, PhotoError> {
    let reader = ImageReader::new(Cursor::new(photo)).with_guessed_format().map_err(|_| PhotoError::Unreadable)?;
    if !matches!(reader.format(), Some(ImageFormat::Png | ImageFormat::Jpeg)) {
        return Err(PhotoError::Unreadable);
    }
    reader.into_decoder().map_err(|_| PhotoError::Unreadable)
}

/// JPEG has no transparency. In place, as the picture is large.
fn on_white(photo: DynamicImage) -> DynamicImage {
    if !photo.color().has_alpha() {
        return photo;
    }
    let mut photo = photo.into_rgba8();
    for pixel in photo.pixels_mut() {
        let [channels @ .., alpha] = &mut pixel.0;
        for channel in channels {
            *channel = 255 - mul(255 - *channel, *alpha);
        }
        *alpha = 255;
    }
    photo.into()
}

/// The product of two fractions of 255.
fn mul(a: u8, b: u8) -> u8 {
    u8::try_from(u16::from(a) * u16::from(b) / 255).unwrap_or(u8::MAX)
}

/// At most so large once it is upright. A small one stays as it is.
fn thumbnail(photo: DynamicImage, orientation: Orientation, width: u32, height: u32) -> DynamicImage {
    let (width, height) = if is_sideways(orientation) { (height, width) } else { (width, height) };
    let is_large = photo.width() > width || photo.height() > height;
    if is_large { photo.thumbnail(width, height) } else { photo }
}

fn is_sideways(orientation: Orientation) -> bool {
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    matches!(orientation, Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH)
}

fn jpeg(photo: &RgbImage) -> ImageResult<Vec<u8>> {
    let mut jpeg = Vec::new();
    photo.write_with_encoder(JpegEncoder::new_with_quality(&mut jpeg, QUALITY))?;
    Ok(jpeg)
}
