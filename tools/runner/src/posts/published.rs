//! What the posts published, and which variant of today stands beside each figure.
//!
//! Figures only, with their sources; the tables around them are ours.

/// A table of a post.
pub(crate) struct Post {
    pub(crate) title: &'static str,
    /// How the published figures were made.
    pub(crate) then: &'static str,
    pub(crate) parts: &'static [FigureGroup],
    /// Known biases.
    pub(crate) biases: &'static [&'static str],
}

/// Figures of one thing.
pub(crate) struct FigureGroup {
    pub(crate) title: &'static str,
    pub(crate) experiment: &'static str,
    pub(crate) kind: Kind,
    pub(crate) rows: &'static [Row],
}

/// What the columns are.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// Requests or calls per second; the CPU time of one.
    Rate,
    /// Memory of all processes.
    Memory,
}

/// A published figure, and whom to put beside it: a variant of the experiment.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) figure: &'static str,
    pub(crate) today: &'static str,
}

const fn row(name: &'static str, figure: &'static str, today: &'static str) -> Row {
    Row { name, figure, today }
}

const fn rates(title: &'static str, experiment: &'static str, rows: &'static [Row]) -> FigureGroup {
    FigureGroup { title, experiment, kind: Kind::Rate, rows }
}

/// The posts, in the order of their years, but for Perl's, which has tables of its own.
pub(crate) const POSTS: &[Post] = &[
    Post {
        title: "Ocsigen, 2009",
        then: "eigenclass on the Ocsigen server, January 2009: ab on the machine itself, an Athlon64 X2 of 3 GHz with two cores; connections and \
               number of requests are not said. Memory is RSS.",
        parts: &[
            rates(
                "Hello from a program, requests/s",
                "post-ocsigen-hello",
                &[
                    row("Rails, mongrel, 1 process", "260", "Rails, puma"),
                    row("the same behind nginx", "220", "Rails, puma behind nginx"),
                    row("the same, 4 processes", "430", "Rails, puma of 4 behind nginx"),
                    row("Ocsigen, 1 process", "5 800", "Ocsigen, Eliom"),
                    row("lighttpd, FastCGI in C, 20 processes", "9 300", "lighttpd, FastCGI in C, 20"),
                ],
            ),
            FigureGroup {
                title: "Memory of all processes after it, MB",
                experiment: "post-ocsigen-memory",
                kind: Kind::Memory,
                rows: &[
                    row("Rails, mongrel, 1 process", "49", "Rails, puma"),
                    row("the same behind nginx", "~51", "Rails, puma behind nginx"),
                    row("the same, 4 processes", "~200", "Rails, puma of 4 behind nginx"),
                    row("Ocsigen, 1 process", "4.5", "Ocsigen, Eliom"),
                    row("lighttpd, FastCGI in C, 20 processes", "4.5", "lighttpd, FastCGI in C, 20"),
                ],
            },
            rates(
                "A file of 13 bytes, requests/s",
                "post-ocsigen-static",
                &[
                    row("mongrel", "~1 000", "Rails, puma"),
                    row("Ocsigen, 1 process", "~4 500", "Ocsigen"),
                    row("Apache 2", "~8 500", "Apache"),
                    row("lighttpd", "~12 000", "lighttpd"),
                ],
            ),
        ],
        biases: &[
            "The post let some servers have both cores, and ab a share of them. Here each has one core, with all its processes, and the load has the \
             other: what four mongrels gained by a second core, four pumas cannot show.",
            "Rails 6.1, puma 5.6 and Ocsigen 5 with Eliom are Debian 12's, some years old; so are nginx, lighttpd and Apache. What is compiled of Rust, Go \
             and C is of today.",
            "Rails and Eliom do more for a hello than the others: Rails sets security headers and an entity tag and names the request, Eliom looks after sessions, \
             and Ocsigen writes an access log, which the others were told not to.",
            // Of the record of 22 November 2026; for the next one it is set.
            "Rails was measured without `config.cache_classes`, here and below: it looked for changed files at each request. With it, a hello takes a fifth \
             to a third less CPU.",
            "puma has five threads in a process, of which Ruby runs one at a time.",
            "lighttpd was told of 20 processes for FastCGI, and runs 4 of them: the table of memory counts them, and itself.",
            "axum's and actix-web's programs have nothing but the hello; Skep's has the database, the list and the files of all posts in it, and memory shows that.",
            "Where puma stands behind nginx, a shell that keeps the two is among the processes.",
            "The published memory is RSS and counts shared pages in each process; ours is PSS and counts them once.",
            "For a connection that is kept, puma has a limit of its own, and lets go of it now and then.",
        ],
    },
    Post {
        title: "TreeFrog, 2011",
        then: "TreeFrog 0.54's documentation: httperf on a MacBook Pro of 2.4 GHz, the blog's index from SQLite without a row, one connection at \
               a time and a new one for each request: the inverse of the latency, not a capacity.",
        parts: &[
            rates(
                "Index without rows, requests/s",
                "post-treefrog-0",
                &[
                    row("thread", "561.8", "skep, thread"),
                    row("prefork, a process for each request", "40.2", "skep, a process for each request"),
                ],
            ),
            rates("The same with 20 rows (not in the post), requests/s", "post-treefrog-20", &[]),
        ],
        biases: &[
            "TreeFrog itself has no package in Debian: Skep's process models stand beside TreeFrog's figures of another machine and another decade. The ratio of thread to \
             a process for each request is what compares: the post's is 14.0.",
            "Both begin the next process before the next request; on one core, that and the end of the last one still lie between two requests.",
            "Skep's pages were not kept (`cache.pages.tiers=null`): the database is asked each time, as in the post.",
        ],
    },
    Post {
        title: "Dart, 2012",
        then: "A blog on benchmarking a Dart server, November 2012: ab -n 10000 -c 2, one small file, one process.",
        parts: &[rates(
            "A small file, requests/s",
            "post-dart",
            &[
                row("two checks that block", "1 555.80", "skep, two checks"),
                row("the path goes by way of the session", "1 276.72", "skep, by a session"),
                row("the path goes by way of an outer variable", "1 566.07", "skep, by a value"),
                row("node, Express", "1 602.96", "Express"),
            ],
        )],
        biases: &[
            "Dart's server of 2012 is not in Debian and its interface is gone: its three ways are written in Skep and in Express instead. Their ratios compare, not their rates.",
            "An outer variable would be a race in Skep, and does not compile; `by a value` hands the path on as a value, which is what the post looked for.",
            "Each request begins a session, since no client sends a cookie back. Skep stores it on disk unless told otherwise; express-session keeps it in memory, as Dart did: \
             `skep, by a session in memory` is the like of that.",
            "Skep answers small files from memory and looks whether they changed; Express opens the file each time.",
        ],
    },
    Post {
        title: "Neko, 2013",
        then: "A blog on neko.Web.cacheModule: ab -n 1000 -c 20 on a laptop, a new connection for each request, first requests among them. The real application is not published.",
        parts: &[
            rates(
                "The counter program, requests/s",
                "post-neko-count",
                &[
                    row("Apache, mod_php", "161.89", "mod_php"),
                    row("nekotools server", "687.49", "nekotools"),
                    row("Apache, mod_neko", "1 054.70", "mod_neko"),
                    row("Apache, mod_tora", "745.94", "mod_tora"),
                    row("Apache, mod_neko, cacheModule", "3 516.04", "mod_neko, cacheModule"),
                    row("Apache, mod_tora, cacheModule", "2 185.30", "mod_tora"),
                ],
            ),
            rates(
                "The real application; today a page of 20 rows from SQLite, requests/s",
                "post-neko-page",
                &[
                    row("Apache, mod_php", "3.6", "mod_php"),
                    row("nekotools server", "20.11", "nekotools"),
                    row("Apache, mod_neko", "48.74", "mod_neko"),
                    row("Apache, mod_tora", "33.29", "mod_tora"),
                    row("Apache, mod_neko, cacheModule", "351.42", "mod_neko, cacheModule"),
                    row("Apache, mod_tora, cacheModule", "402.76", "mod_tora"),
                ],
            ),
        ],
        biases: &[
            "The post's PHP was the same Haxe program compiled to PHP, on a framework; ours is a page of plain PHP. Its real application read files, parsed templates of XML and asked a \
             database more than once; ours asks once. So the ratios of the second table say little about each other.",
            "Neko 2.3 (2019), PHP 8.2 and Apache 2.4 are Debian 12's. Apache's modules for PHP and Neko want processes; what a module keeps, it keeps once for each of them.",
            "Templates of Skep, Go, axum and Rails are compiled once or into the program; PHP without OPcache and Neko without cacheModule read theirs for each request, \
             which is what the post is about.",
            "nekotools answers one request at a time, says no length and closes each connection, so `kept` is not kept there.",
            "`skep, a process for each request` is what Skep has in place of \"no cache\": every request finds static variables as initialisation left them.",
            "`skep, the page kept` answers from the cache and asks no database. No other row does that.",
        ],
    },
];

/// Perl's caches: operations a second by stores:reads and size.
pub(crate) const CACHE_COLUMNS: [&str; 5] = ["1:10 16 B", "1:10 160 B", "1:10 1600 B", "1:1 160 B", "1:100 160 B"];

/// The published name, its figures by [`CACHE_COLUMNS`], and today's row. Of the two published columns of 1:10 and 160
/// bytes, the first.
pub(crate) const CACHE: [(&str, [u32; 5], &str); 8] = [
    ("CHI, memcached by IP", [5107, 4628, 4139, 3806, 4626], "CHI Memcached, tcp"),
    ("CHI, memcached by socket", [5219, 5140, 4380, 4155, 5141], "CHI Memcached, unix"),
    ("CHI, memory before memcached by IP", [6669, 6639, 5777, 2192, 8279], "CHI Memcached, tcp, l1"),
    ("CHI, FastMmap", [6920, 6643, 5731, 4781, 7004], "CHI FastMmap"),
    ("CHI, memory", [8885, 8661, 7501, 3787, 9943], "CHI Memory"),
    ("memcached by IP", [8986, 8615, 7779, 8043, 8799], "Cache::Memcached::Fast, tcp"),
    ("memcached by socket", [10087, 10188, 9484, 10441, 10525], "Cache::Memcached::Fast, unix"),
    ("Cache::FastMmap", [11498, 11201, 10230, 5368, 12849], "Cache::FastMmap"),
];

/// Skep's rows of the same bench.
pub(crate) const CACHE_SKEP: [&str; 9] = [
    "skep memory",
    "skep memory, Cache",
    "skep shared",
    "skep shared, Cache",
    "skep memcached, unix",
    "skep memcached, unix, Cache",
    "skep memcached, tcp",
    "skep memcached, tcp, Cache",
    "skep memory + memcached, unix, Cache",
];

/// The logging part of that blog.
pub(crate) const LOG: FigureGroup = rates(
    "A message that is written, into an appender that throws it away; calls/s",
    "post-perl-log",
    &[
        row("MooseX::Log::Log4perl, log", "21 235", "MooseX log"),
        row("MooseX::Log::Log4perl, logger", "21 273", "MooseX logger"),
        row("Log4perl, by method", "22 102", "Log4perl, by method"),
        row("Log4perl, direct", "22 535", "Log4perl, direct"),
    ],
);
