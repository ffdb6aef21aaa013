//! The layers of each crate.

/// The layers of one crate.
pub(super) struct Layers {
    /// The folder below `crates`.
    pub(super) name: &'static str,
    /// From the lowest to the highest: what the layer has, and its modules.
    pub(super) order: &'static [(&'static str, &'static [&'static str])],
    /// Imports that point upwards: from, to, and why that is left so.
    pub(super) upward: &'static [(&'static str, &'static str, &'static str)],
}

/// Every crate of the product.
pub(super) const CRATES: &[Layers] = &[
    Layers {
        name: "skep-units",
        order: &[
            ("parsing", &["chain", "error", "macros", "nearest", "number"]),
            (
                "values",
                &["address", "duration", "list", "mutex", "panic", "rate", "roots", "size", "suggestion", "text"],
            ),
        ],
        upward: &[],
    },
    Layers {
        name: "skep-settings",
        order: &[
            ("values", &["kind"]),
            ("types and rows", &["from_setting", "table", "transfer", "value", "variable"]),
            ("structs", &["declare", "declared", "group", "section"]),
        ],
        upward: &[],
    },
    Layers {
        name: "skep-sql-lock",
        order: &[
            ("texts", &["column_type", "function", "hash", "manifest", "message", "scope", "text"]),
            ("entries", &["declared", "directive", "entry", "migrations"]),
            ("file", &["lock"]),
        ],
        upward: &[],
    },
    Layers {
        name: "skep-macros",
        order: &[
            ("fields", &["field"]),
            ("macros", &["account", "assets", "group", "handler", "log", "param", "service", "settings"]),
        ],
        upward: &[],
    },
    Layers {
        name: "skep-html-macros",
        order: &[
            ("values", &["ast", "diagnostic", "home", "names", "standard", "words"]),
            ("syntax", &["attribute", "control", "parse"]),
            ("rules", &["check"]),
            ("macros", &["expand", "generate"]),
        ],
        upward: &[],
    },
    Layers {
        name: "skep-html",
        order: &[
            ("writing", &["element", "escape", "nonce", "number"]),
            ("pieces", &["buffer", "fits", "href", "html", "kind", "place", "render", "script"]),
            ("values", &["attributes", "code_url", "decimal", "destination", "jiff", "piece"]),
            ("servers", &["axum"]),
        ],
        upward: &[],
    },
    Layers {
        name: "skep-sql-macros",
        order: &[
            (
                "the engine",
                &[
                    "access",
                    "columns",
                    "directive",
                    "home",
                    "infer",
                    "package",
                    "schema",
                    "stand_in",
                    "stored",
                    "text",
                    "typed",
                ],
            ),
            ("statements", &["check", "input", "page"]),
            ("macros", &["companion", "migrations", "parameter", "postgres", "row", "statement", "write"]),
        ],
        upward: &[],
    },
    Layers {
        name: "skep-cache",
        order: &[
            ("values", &["clock", "codec", "error", "file_id", "flight", "hash", "setters", "stats", "timer"]),
            ("contract", &["block", "breaker", "connections", "driver", "entry"]),
            ("parts of drivers", &["blocking_pool", "key", "shared", "slot", "suite", "tags"]),
            (
                "drivers",
                &["file", "memcached", "memory", "null", "policy", "redis", "sealed", "sqlite", "store", "tiered"],
            ),
            ("interface", &["blocking", "cache", "counters", "tiers"]),
        ],
        upward: &[],
    },
    Layers {
        name: "skep-sql",
        order: &[
            ("values", &["changes", "each", "offload", "private", "status", "timing", "wire"]),
            (
                "statements",
                &[
                    "checked", "decimal", "error", "fixed", "function", "jiff", "kind", "moment", "noted", "page",
                    "query", "row", "value",
                ],
            ),
            ("migrations", &["migrations", "open_error"]),
            (
                "engines",
                &[
                    "after_commit",
                    "dependencies",
                    "engine",
                    "guests",
                    "options",
                    "packed",
                    "pool",
                    "postgres",
                    "remote",
                    "sqlite",
                ],
            ),
            ("the engine that is built in", &["built_in", "either"]),
            (
                "interface",
                &[
                    "blocking",
                    "database",
                    "hosted",
                    "listen",
                    "local",
                    "reused",
                    "savepoint",
                    "serializable",
                    "stream",
                    "transaction",
                    "verbs",
                ],
            ),
        ],
        upward: &[],
    },
    Layers {
        name: "skep-http",
        order: &[
            ("ground", &["account", "extension", "fields", "log", "quota", "wire"]),
            ("messages", &["body", "cookie", "error", "fetch", "request", "response", "upgrade", "validation"]),
            ("content", &["compression", "development", "error_page", "files", "sse"]),
        ],
        upward: &[],
    },
    Layers {
        name: "skep",
        order: &[
            ("ground", &["base", "html", "http", "link", "pages", "settings", "sql"]),
            ("host", &["host"]),
            ("routing", &["routing"]),
            ("security", &["security"]),
            ("context", &["context"]),
            ("contract", &["contract"]),
            ("application", &["application"]),
            ("features", &["features"]),
        ],
        upward: &[],
    },
    Layers {
        name: "skep-people",
        order: &[
            ("values", &["account_mail", "cost", "entrance", "gate", "guides", "random", "signature", "stamp", "tick"]),
            (
                "accounts",
                &[
                    "account", "bearer", "budget", "common", "device", "event", "known", "link", "messages", "notice",
                    "pages", "password", "remember", "rule", "second", "sign_in", "site", "totp",
                ],
            ),
            ("other ways in", &["oidc", "passkeys", "test"]),
        ],
        upward: &[],
    },
    Layers {
        name: "skep-jobs",
        order: &[
            ("tables", &["counts", "schema", "wake"]),
            ("jobs", &["act", "batch", "cron", "cx", "figures", "job", "jobs", "later", "leases", "mail", "store"]),
            ("running", &["attempt", "runner", "step"]),
            ("interface", &["app", "page", "task", "test"]),
        ],
        upward: &[],
    },
    Layers {
        name: "skep-live",
        order: &[
            ("values", &["changes", "hub", "members", "piece", "schema"]),
            ("of the process", &["elsewhere", "pages", "presences", "thread", "topic", "topics"]),
            ("interface", &["app", "page", "presence", "send"]),
        ],
        upward: &[],
    },
    Layers {
        name: "skep-storage",
        order: &[
            ("values", &["bytes", "error", "key", "name", "new_file", "photo", "record", "schema"]),
            ("places", &["folder", "s3"]),
            ("storage", &["settings", "storage", "sweep"]),
            ("interface", &["app", "cx", "link"]),
        ],
        upward: &[],
    },
    Layers {
        name: "skep-fluent",
        order: &[
            ("values", &["argument", "locale", "number", "problem"]),
            ("what has data of ICU", &["date", "formats"]),
            ("files", &["file", "format", "walk"]),
            ("languages", &["framework", "texts"]),
        ],
        upward: &[],
    },
    Layers {
        name: "skep-language-macros",
        order: &[("values", &["folder", "form"]), ("macros", &["languages", "text"])],
        upward: &[],
    },
    Layers {
        name: "skep-language",
        order: &[("texts", &["text_set", "input"]), ("interface", &["app", "language"])],
        upward: &[],
    },
    Layers {
        name: "skep-observe",
        order: &[
            ("values", &["clock", "numbers", "overview", "process", "sys"]),
            ("log", &["log"]),
            ("metrics", &["app_status", "metrics"]),
            ("status page", &["status"]),
            ("export", &["otlp"]),
        ],
        upward: &[],
    },
    Layers {
        name: "skep-server",
        order: &[
            (
                "values",
                &[
                    "authority",
                    "background",
                    "backoff",
                    "error",
                    "executable",
                    "fetch",
                    "http1",
                    "offload",
                    "outgoing",
                    "proxies",
                    "recycling",
                    "routes",
                    "smtp",
                    "sys",
                    "worker_state",
                ],
            ),
            ("parts of processes", &["channel", "handoff", "jobs", "listener", "procfs", "signals", "tls"]),
            ("connections", &["connection"]),
            ("settings", &["config"]),
            ("processes", &["deployment", "resources", "supervisor", "worker"]),
            ("server", &["assembly", "control", "prefork", "server", "status_server"]),
        ],
        upward: &[],
    },
    Layers {
        name: "skep-isolate",
        order: &[
            (
                "values",
                &[
                    "clock",
                    "error",
                    "features",
                    "file_stamp",
                    "function_cache",
                    "hash",
                    "prefix",
                    "random",
                    "trap",
                    "wasi",
                ],
            ),
            ("services", &["disk", "limits", "precompiled", "recycle", "reuse", "services"]),
            ("state", &["data", "exports", "init", "source", "state", "sys"]),
            ("engine", &["code", "engine", "instance", "options", "program", "settings"]),
            ("versions", &["check", "pool", "snapshot", "version"]),
            ("requests", &["jobs", "respond"]),
            ("applications", &["application", "stages", "table"]),
            ("commands", &["compile", "mount", "serve", "status", "watch"]),
        ],
        upward: &[],
    },
    Layers { name: "skep-wasm", order: &[], upward: &[] },
    Layers {
        name: "skep-top",
        order: &[("feed", &["feed"]), ("screen", &["screen"]), ("drawing", &["draw", "tables"])],
        upward: &[],
    },
    Layers {
        name: "skep-dev",
        order: &[
            ("texts", &["editor", "inject", "policy", "state"]),
            ("command line", &["ansi", "options"]),
            ("package", &["package"]),
            ("connections", &["tls"]),
            ("parts", &["build", "front", "program", "sources", "watch"]),
            ("application", &["application"]),
            ("terminal", &["terminal"]),
            ("loop", &["work"]),
        ],
        upward: &[],
    },
    Layers {
        name: "skep-cli",
        order: &[
            ("texts", &["deployment", "sql_words"]),
            ("tools", &["db", "routes", "run", "secret", "sql", "subcommand"]),
            ("commands", &["generate"]),
            ("what knows them", &["completions", "new"]),
        ],
        upward: &[],
    },
];
