//! Findings of suites that are wrong, or that we accept.

/// A finding that is no complaint.
pub(super) struct Accepted {
    pub(super) suite: &'static str,
    /// A part of its text.
    pub(super) finding: &'static str,
    /// Why. `tools/suites.md` repeats it.
    pub(super) reason: &'static str,
}

/// Each must be found in every run: what is found no more is to be removed.
pub(super) const ACCEPTED: &[Accepted] = &[
    Accepted {
        suite: "h2spec",
        finding: "clear text: http2/3.5/2:",
        reason: "On clear text, bytes that are no preface of HTTP/2 are a request of HTTP/1. It is answered with an \
                 error of HTTP/1, and the connection is closed. RFC 9113, 3.4 is about connections of HTTP/2.",
    },
    Accepted {
        suite: "sslyze",
        finding: "certificate_path_validation:",
        reason: "The certificate is the one that `--tls-self-signed` makes for development.",
    },
    Accepted {
        suite: "sslyze",
        finding: "maximum_certificate_lifespan:",
        reason: "The certificate is the one that `--tls-self-signed` makes for development.",
    },
    Accepted {
        suite: "wapiti",
        finding: "Lack of anti CSRF token",
        reason: "Every form has a token, `skep-token`, and it is checked where a browser does not say where a request \
                 comes from. Wapiti looks for other names.",
    },
    Accepted {
        suite: "wapiti",
        finding: "X-Frame-Options is not set",
        reason: "`Content-Security-Policy: frame-ancestors 'none'` says it, and browsers ignore the older field beside \
                 it (CSP 3, 6.4.2).",
    },
    Accepted {
        suite: "schemathesis",
        finding: "helpdesk: PATCH /api/tickets/{id}: ST202 Schema-valid request rejected",
        reason: "`2.0` is a whole number for JSON Schema, and a fraction for `serde_json`.",
    },
];
