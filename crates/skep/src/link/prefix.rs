//! A prefix that services share.

/// The beginning of the paths of several services: `const SHOP: Prefix = Prefix::new("/shop");`.
///
/// A service names it, `#[service(GET "/items/{id}", prefix = SHOP)]`, and is then mounted and linked to below it. So
/// the place of a set of services is said once; and it is said where links are made, because a link is a value that
/// knows nothing of the application it is written in.
///
/// ```
/// use skep::link::Prefix;
/// use skep::prelude::*;
///
/// const SHOP: Prefix = Prefix::new("/shop");
///
/// #[derive(Service)]
/// #[service(GET "/items/{id}", prefix = SHOP)]
/// struct Item { id: u32 }
/// # impl Handle for Item { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
///
/// assert_eq!(Item { id: 7 }.url(), "/shop/items/7");
/// # assert_eq!(skep::test::Client::new(App::new().serve(services![Item])).get("/shop/items/7").status(), 200);
/// ```
///
/// What is no prefix does not compile:
///
/// ```compile_fail,E0080
/// const SHOP: skep::link::Prefix = skep::link::Prefix::new("/shop/");
/// ```
///
/// An application that is built for several places takes it from the environment of its build:
///
/// ```
/// # use skep::link::Prefix;
/// const BASE: Prefix = match option_env!("BLOG_PREFIX") {
///     Some(prefix) => Prefix::new(prefix),
///     None => Prefix::NONE,
/// };
/// # let _ = BASE;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix(&'static str);

impl Prefix {
    /// Paths stay as they are.
    pub const NONE: Self = Self("");

    /// A prefix: `/shop`, `/a/b`, or nothing.
    ///
    /// # Panics
    /// If it does not begin with a slash, ends with one, has an empty segment, or has a character that cannot stand in
    /// a path as it is. In a `const` that is an error of the compiler.
    #[must_use]
    pub const fn new(path: &'static str) -> Self {
        let bytes = path.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            assert!(at > 0 || byte == b'/', "a prefix begins with a slash: \"/shop\"");
            let ends = at + 1 == bytes.len();
            assert!(byte != b'/' || !ends, "a prefix does not end with a slash: the paths below it begin with one");
            assert!(byte != b'/' || ends || bytes[at + 1] != b'/', "a prefix has no empty segment: remove one slash");
            assert!(
                byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'.' | b'_' | b'~'),
                "a prefix has ASCII letters, digits, and any of / - . _ ~"
            );
            at += 1;
        }
        Self(path)
    }

    /// The text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}
