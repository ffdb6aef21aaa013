//! A guest book: the application of the tutorial, as its last step leaves it.
//!
//! `docs/tutorial` builds it; `tests/steps` has the steps before. Start reading at [`app`].

mod guestbook;

pub use guestbook::{Forget, Index, Show, Sign, app};

skep::component!(app());
