//! The header fields that tell browsers what a page may do: [`SecurityHeaders`].

use std::borrow::Cow;
use std::sync::OnceLock;
use std::time::Duration;

use http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY_REPORT_ONLY, CONTENT_TYPE, REFERRER_POLICY,
    STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::ext::ResponseExt as _;
use crate::response::{HeaderBlock, Response};
use skep_html::nonce;

type Text = Cow<'static, str>;

/// What [`SecurityHeaders::report_to`] names, unless an application names another place.
pub const REPORTS: &str = "/-/csp-reports";

const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const REPORTING_ENDPOINTS: HeaderName = HeaderName::from_static("reporting-endpoints");

/// The directives of the default policy. `script-src` and `style-src` are followed by the nonce of the page, if it has
/// one.
const DIRECTIVES: &[(&str, &str)] = &[
    ("default-src", "'self'"),
    ("script-src", "'self'"),
    ("style-src", "'self'"),
    ("img-src", "'self' data:"),
    ("object-src", "'none'"),
    ("base-uri", "'self'"),
    ("form-action", "'self'"),
    ("frame-ancestors", "'none'"),
];

/// What a nonce extends: what runs code, and what changes how a page looks.
const WITH_NONCE: [&str; 5] = ["default-src", "script-src", "style-src", "script-src-elem", "style-src-elem"];

/// The header fields with which an application limits what its pages may do in a browser.
///
/// Every response has `X-Content-Type-Options: nosniff` and `Cross-Origin-Resource-Policy: same-origin`. Pages
/// (`text/html`) also have:
///
/// | field | default |
/// |---|---|
/// | `Content-Security-Policy` | scripts, styles, fonts, frames, requests and forms of this site only; images also as `data:`; no plugins; no other site may frame it |
/// | `Referrer-Policy` | `strict-origin-when-cross-origin` |
/// | `Permissions-Policy` | no camera, microphone, location, payment, USB |
/// | `Cross-Origin-Opener-Policy` | `same-origin` |
/// | `Strict-Transport-Security` | a year, over TLS only |
///
/// A `<script>` or `<style>` that [`html!`](skep_html::html!) writes gets a nonce, which the policy names; so does a
/// script or style sheet of another host whose URL is a literal. What an attacker smuggles into a page has none, and
/// does not run. Attributes that are code (`onclick`, `style`) have no nonce and are blocked: listen in a script, use a
/// class, or allow them with a [directive](Self::directive) (`script-src-attr`, `style-src-attr`).
///
/// `App::security_headers` changes them for an application,
/// [`Response::with_security_headers`](crate::Response::with_security_headers) for one response. A field that a
/// response has already stays as it is.
///
/// ```
/// use skep::SecurityHeaders;
/// use skep::prelude::*;
///
/// let headers = SecurityHeaders::new()
///     .directive("img-src", "'self' https://images.example")
///     .directive("frame-ancestors", "https://partner.example");
/// let app = App::new().security_headers(headers);
/// let response = skep::test::Client::new(app).get("/nowhere");
/// assert!(response.headers()["content-security-policy"].to_str().unwrap().contains("https://images.example"));
/// ```
#[derive(Clone, Debug)]
pub struct SecurityHeaders {
    directives: Vec<(Text, Text)>,
    enforce: bool,
    report_to: Option<Text>,
    hsts: Option<Text>,
    /// Of pages.
    page: Vec<(HeaderName, Text)>,
    /// Of everything.
    all: Vec<(HeaderName, Text)>,
}

impl Default for SecurityHeaders {
    fn default() -> Self {
        Self::new()
    }
}

impl SecurityHeaders {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self {
            directives: DIRECTIVES.iter().map(|&(name, value)| (name.into(), value.into())).collect(),
            enforce: true,
            report_to: None,
            hsts: Some("max-age=31536000".into()),
            page: vec![
                (REFERRER_POLICY, "strict-origin-when-cross-origin".into()),
                (PERMISSIONS_POLICY, "camera=(), geolocation=(), microphone=(), payment=(), usb=()".into()),
                (OPENER_POLICY, "same-origin".into()),
            ],
            all: vec![(X_CONTENT_TYPE_OPTIONS, "nosniff".into()), (RESOURCE_POLICY, "same-origin".into())],
        }
    }

    /// No fields at all: for what has its own, or none by intent.
    #[must_use]
    pub fn none() -> Self {
        Self { directives: Vec::new(), enforce: true, report_to: None, hsts: None, page: Vec::new(), all: Vec::new() }
    }

    /// Sets a directive of the `Content-Security-Policy`, such as `("img-src", "'self' data:")`. An empty value removes
    /// it.
    #[must_use]
    pub fn directive(mut self, name: impl Into<Text>, value: impl Into<Text>) -> Self {
        set(&mut self.directives, name.into(), value.into());
        self
    }

    /// Browsers report what the policy would block, and do not block it. To try a stricter policy on live traffic.
    #[must_use]
    pub fn report_only(mut self) -> Self {
        self.enforce = false;
        self
    }

    /// Has browsers report what the policy blocks: to this path or URL, or to `/-/csp-reports` of this application if
    /// it is empty, which logs reports as warnings of the category `skep::csp`.
    #[must_use]
    pub fn report_to(mut self, url: impl Into<Text>) -> Self {
        let url = url.into();
        self.report_to = Some(if url.is_empty() { REPORTS.into() } else { url });
        self
    }

    /// How long browsers refuse to reach the site without TLS (`Strict-Transport-Security`); zero has them forget it.
    /// The field is sent over TLS only.
    #[must_use]
    pub fn hsts(mut self, lasts: Duration, include_subdomains: bool) -> Self {
        let subdomains = if include_subdomains { "; includeSubDomains" } else { "" };
        self.hsts = Some(format!("max-age={}{subdomains}", lasts.as_secs()).into());
        self
    }

    /// No `Strict-Transport-Security`.
    #[must_use]
    pub fn no_hsts(mut self) -> Self {
        self.hsts = None;
        self
    }

    /// Sets the `Referrer-Policy`. An empty value removes the field, here and in the methods below.
    #[must_use]
    pub fn referrer_policy(self, value: impl Into<Text>) -> Self {
        self.page_field(REFERRER_POLICY, value)
    }

    /// Sets the `Permissions-Policy`, such as `"camera=(self), microphone=()"`.
    #[must_use]
    pub fn permissions_policy(self, value: impl Into<Text>) -> Self {
        self.page_field(PERMISSIONS_POLICY, value)
    }

    /// Sets the `Cross-Origin-Opener-Policy`: `same-origin-allow-popups` for sign-in windows of other sites.
    #[must_use]
    pub fn opener_policy(self, value: impl Into<Text>) -> Self {
        self.page_field(OPENER_POLICY, value)
    }

    /// Sets the `Cross-Origin-Resource-Policy` of every response: `cross-origin` for what other sites may embed.
    #[must_use]
    pub fn resource_policy(mut self, value: impl Into<Text>) -> Self {
        set(&mut self.all, RESOURCE_POLICY, value.into());
        self
    }

    fn page_field(mut self, name: HeaderName, value: impl Into<Text>) -> Self {
        set(&mut self.page, name, value.into());
        self
    }
}

extension! {
    /// What a framework does with security headers.
    pub trait SecurityHeadersExt for SecurityHeaders {
        /// True if browsers are to report to this application.
        fn reports_here(&self) -> bool {
            self.report_to.as_deref() == Some(REPORTS)
        }

        /// As it is sent, or what is wrong with it.
        fn compile(&self) -> Result<Compiled, String> {
            let fields = |fields: &[(HeaderName, Text)]| -> Result<Vec<_>, String> {
                fields.iter().map(|(name, text)| Ok((name.clone(), value(name.as_str(), text)?))).collect()
            };
            for (name, text) in &self.directives {
                let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
                if !is_name || text.contains([';', ',']) {
                    return Err(format!(
                        "SecurityHeaders::directive: \"{name} {text}\" is not one directive: write directive(\"img-src\", \"'self' data:\")"
                    ));
                }
            }
            let (mut page, mut policy) = (fields(&self.page)?, self.directives.clone());
            if let Some(url) = &self.report_to {
                policy.extend([("report-uri".into(), url.clone()), ("report-to".into(), "csp".into())]);
                page.push((REPORTING_ENDPOINTS, value("report-to", &format!("csp=\"{url}\""))?));
            }
            let policy = (!self.directives.is_empty()).then_some(Policy {
                field: if self.enforce { CONTENT_SECURITY_POLICY } else { CONTENT_SECURITY_POLICY_REPORT_ONLY },
                plain: value("Content-Security-Policy", &written(&policy, None))?,
                directives: policy,
            });
            let hsts = self.hsts.as_deref().map(|text| value("Strict-Transport-Security", text)).transpose()?;
            Ok(Compiled { all: fields(&self.all)?, page, policy, hsts, blocks: Default::default() })
        }
    }
}

/// Replaces or adds; an empty value removes.
fn set<N: PartialEq>(list: &mut Vec<(N, Text)>, name: N, value: Text) {
    let at = list.iter().position(|(other, _)| *other == name);
    match (at, value.is_empty()) {
        (Some(at), true) => drop(list.remove(at)),
        (Some(at), false) => list[at].1 = value,
        (None, true) => {}
        (None, false) => list.push((name, value)),
    }
}

fn value(name: &str, text: &str) -> Result<HeaderValue, String> {
    HeaderValue::from_str(text).map_err(|_| format!("SecurityHeaders: {name} cannot be \"{}\"", text.escape_debug()))
}

/// [`SecurityHeaders`], ready to be sent.
#[derive(Clone, Debug)]
pub struct Compiled {
    all: Vec<(HeaderName, HeaderValue)>,
    page: Vec<(HeaderName, HeaderValue)>,
    policy: Option<Policy>,
    hsts: Option<HeaderValue>,
    /// The same, written, for responses that have none of these fields: by [`Compiled::block`].
    blocks: [OnceLock<HeaderBlock>; 6],
}

#[derive(Clone, Debug)]
struct Policy {
    field: HeaderName,
    /// Without a nonce.
    plain: HeaderValue,
    directives: Vec<(Text, Text)>,
}

impl Compiled {
    /// Adds the fields that the response does not have, its own in place of these. `nonce`: that of its scripts and
    /// styles. `tls`: browsers reach the site over TLS.
    #[inline]
    pub fn add_to(&self, response: &mut Response, nonce: Option<&str>, tls: bool) {
        if let Some(own) = response.take_security_headers() {
            return own.add_to(response, nonce, tls);
        }
        let is_page = response.field(&CONTENT_TYPE).is_some_and(|kind| kind.starts_with(b"text/html"));
        let lacks_policy =
            is_page && self.policy.as_ref().is_some_and(|policy| response.field(&policy.field).is_none());
        let block = self.block(is_page, lacks_policy && nonce.is_none(), tls);
        if !response.map().is_some_and(|headers| headers.keys().any(|name| block.has(name))) {
            if lacks_policy && nonce.is_some() {
                self.add_policy(response.headers_mut(), nonce);
            }
            return response.set_block(block.clone());
        }
        let headers = response.headers_mut();
        for (name, value) in self.all.iter().chain(self.page.iter().filter(|_| is_page)) {
            headers.entry(name).or_insert_with(|| value.clone());
        }
        if let Some(hsts) = self.hsts.as_ref().filter(|_| tls) {
            headers.entry(STRICT_TRANSPORT_SECURITY).or_insert_with(|| hsts.clone());
        }
        if is_page {
            self.add_policy(headers, nonce);
        }
    }

    /// All fields that a response without any of them gets.
    fn block(&self, is_page: bool, with_policy: bool, tls: bool) -> &HeaderBlock {
        let number = usize::from(is_page) + usize::from(with_policy) + if tls { 3 } else { 0 };
        self.blocks[number].get_or_init(|| {
            let page = self.page.iter().filter(|_| is_page);
            let hsts = self.hsts.iter().filter(|_| tls).map(|value| (STRICT_TRANSPORT_SECURITY, value.clone()));
            let policy = self.policy.iter().filter(|_| with_policy);
            let policy = policy.map(|policy| (policy.field.clone(), policy.plain.clone()));
            HeaderBlock::new(self.all.iter().chain(page).cloned().chain(hsts).chain(policy).collect())
        })
    }

    /// Adds what belongs to a page wherever it is kept: the policy that names its nonce, and fields of its own.
    pub fn keep_in(&self, response: &mut Response) {
        let nonce = nonce::Scope::share();
        let nonce = nonce.as_ref().and_then(nonce::Scope::nonce);
        match response.take_security_headers() {
            Some(own) => own.add_to(response, nonce, false),
            None if nonce.is_some() => self.add_policy(response.headers_mut(), nonce),
            None => {}
        }
    }

    fn add_policy(&self, headers: &mut HeaderMap, nonce: Option<&str>) {
        let Some(policy) = &self.policy else { return };
        headers.entry(&policy.field).or_insert_with(|| {
            let with_nonce =
                |nonce| HeaderValue::try_from(written(&policy.directives, Some(nonce))).expect("a nonce is base64");
            nonce.map_or_else(|| policy.plain.clone(), with_nonce)
        });
    }
}

/// The policy as text.
fn written(directives: &[(Text, Text)], nonce: Option<&str>) -> String {
    let mut text = String::with_capacity(300);
    for (name, sources) in directives {
        let separator = if text.is_empty() { "" } else { "; " };
        text.extend([separator, name, " ", sources]);
        let Some(nonce) = nonce.filter(|_| WITH_NONCE.contains(&name.as_ref()) && sources != "'none'") else {
            continue;
        };
        text.extend([" 'nonce-", nonce, "'"]);
    }
    text
}
