//! The programs of the posts' experiments.

use std::fs;
use std::process::Command;

use super::{Module, Mpm, Program, Sessions, StartOptions, UNCACHED, peer, skep};
use crate::Result;
use crate::build::{Need, executable};
use crate::need::Made;
use crate::site::data::Database;
use crate::site::{Site, posts as files};

pub(super) fn apache_needs(module: Module) -> Vec<Need> {
    let apache = Need::debian("apache2", "apache2");
    match module {
        Module::Event => vec![apache],
        Module::Php { .. } => vec![
            apache,
            Need::file("/usr/lib/apache2/modules/libphp8.2.so", "libapache2-mod-php"),
            Need::file("/etc/php/8.2/mods-available/pdo_sqlite.ini", "php-sqlite3"),
            Need::SQLITE,
        ],
        Module::Neko => vec![
            apache,
            Need::file("/etc/apache2/mods-available/neko.load", "libapache2-mod-neko"),
            Need::Made(Made::Neko),
            Need::SQLITE,
        ],
    }
}

pub(super) fn ocsigen_needs() -> Vec<Need> {
    vec![
        Need::debian("ocsigenserver.opt", "ocsigenserver"),
        Need::file("/usr/lib/ocaml/ocsipersist-sqlite/META", "libocsipersist-sqlite-ocaml-dev"),
        Need::Made(Made::Eliom),
        Need::SQLITE,
    ]
}

pub(super) fn rails_needs(proxied: bool) -> Vec<Need> {
    let mut needs = rails_gems(Database::Sqlite);
    needs.push(Need::SQLITE);
    needs.extend(proxied.then_some(Need::debian("nginx", "nginx-light")));
    needs
}

/// puma, Rails, and what it reads this database with.
pub(super) fn rails_gems(database: Database) -> Vec<Need> {
    const GEMS: &str = "/usr/share/rubygems-integration/all/gems";
    vec![
        Need::debian("puma", "puma"),
        Need::folder(GEMS, "railties-", "ruby-railties"),
        Need::folder(GEMS, "activerecord-", "ruby-activerecord"),
        Need::folder(GEMS, "actionview-", "ruby-actionview"),
        match database {
            Database::Postgres => Need::file("/usr/lib/ruby/vendor_ruby/pg.rb", "ruby-pg"),
            Database::Sqlite => Need::file("/usr/lib/ruby/vendor_ruby/sqlite3.rb", "ruby-sqlite3"),
        },
    ]
}

pub(super) fn log4perl_needs() -> Vec<Need> {
    vec![
        Need::debian("perl", "perl"),
        Need::file("/usr/share/perl5/Log/Log4perl.pm", "liblog-log4perl-perl"),
        Need::file("/usr/share/perl5/MooseX/Log/Log4perl.pm", "libmoosex-log-log4perl-perl"),
    ]
}

/// The rest of the command.
pub(super) fn command(program: Program, command: &mut Command, place: &StartOptions, site: &Site) -> Result<()> {
    command.env("POSTS_DATABASE", site.database()).env("POSTS_FILES", site.files());
    match program {
        Program::SkepPosts { mpm, cached, sessions } => skep_posts(command, place, site, (mpm, cached, sessions))?,
        Program::AxumPosts => {
            command.arg(place.port.to_string()).arg(site.database());
        }
        Program::Go => {
            command.env("GOMAXPROCS", "1").arg(place.port.to_string()).arg(site.database()).arg(site.files());
        }
        Program::Express => {
            command.env("NODE_ENV", "production").arg(Made::Express.result().join("server.js"));
            command.arg(place.port.to_string()).arg(site.database()).arg(site.files());
        }
        Program::FastCgi { processes } => {
            command.args(["-D", "-f"]).arg(files::fastcgi(place, site, processes)?);
        }
        Program::Apache(module) => {
            let file = files::apache(place, site, module)?;
            command.args(["-D", "FOREGROUND", "-f"]).arg(file);
        }
        Program::Nekotools => {
            let port = place.port.to_string();
            command.args(["server", "-h", "127.0.0.1", "-p", &port, "-d"]).arg(site.www()?);
        }
        Program::Ocsigen => {
            command.arg("-c").arg(files::ocsigen(place, site)?);
        }
        Program::Rails { workers, proxied: false } => puma(command, place.port, workers, THREADS, "rails/config.ru"),
        Program::Rails { workers, proxied: true } => proxied(command, place, site, workers)?,
        Program::Log4perl(which) => {
            command.arg(peer("log4perl/log.pl")).arg(which);
        }
        _ => return Err(format!("{program:?} has no command").into()),
    }
    Ok(())
}

fn skep_posts(
    command: &mut Command,
    place: &StartOptions,
    site: &Site,
    (mpm, cached, sessions): (Mpm, bool, Sessions),
) -> Result<()> {
    let own = place.dir.join("database.sqlite");
    fs::create_dir_all(&place.dir)?;
    if site.database().is_file() && !own.exists() {
        fs::copy(site.database(), own)?;
    }
    skep(command, place, mpm, false);
    if !cached {
        command.args(UNCACHED);
    }
    // The load has one address, and keeps no cookie.
    command.args(["--set", "limits.sessions_per_address=0"]);
    if sessions == Sessions::Memory {
        command.args(["--set", "cache.sessions.tiers=memory:16MiB"]);
    }
    Ok(())
}

/// Threads of puma, as Rails has them by default.
const THREADS: &str = "5";

pub(super) fn puma(command: &mut Command, port: u16, workers: u16, threads: &str, application: &str) {
    let (threads, address) = (format!("{threads}:{threads}"), format!("tcp://127.0.0.1:{port}"));
    command.args(["-q", "-e", "production", "-t", &threads, "-w", &workers.to_string(), "-b", &address]);
    command.arg(peer(application));
}

/// Two servers under one shell, which lets both end when it is asked to.
fn proxied(command: &mut Command, place: &StartOptions, site: &Site, workers: u16) -> Result<()> {
    let mut behind = Command::new(executable(Need::debian("puma", "puma")));
    puma(&mut behind, place.second, workers, THREADS, "rails/config.ru");
    let nginx = executable(Need::debian("nginx", "nginx-light"));
    let config = files::proxy(place, site)?;
    let environment = command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    let environment: Vec<_> = environment.collect();
    *command = Command::new("sh");
    let front = format!("{} -e stderr -p {} -c {}", nginx.display(), place.dir.display(), config.display());
    let script = format!("{} & a=$!; {front} & b=$!; trap \"kill $a $b\" TERM; wait; wait $a $b", super::line(&behind));
    command.arg("-c").arg(script).envs(environment);
    Ok(())
}
