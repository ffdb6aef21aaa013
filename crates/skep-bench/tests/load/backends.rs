//! `skep bench cache` with servers that are there: real ones of memcached and Redis.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use skep_bench::compare::Measure;
use skep_bench::record::Record;
use skep_bench::server::{Launch, Started};

/// A server that listens on this socket of its folder.
fn started(line: &str, socket: &str) -> Started {
    let mut server = Started::spawn(&line.parse::<Launch>().unwrap(), None).unwrap();
    let socket = server.dir().join(socket);
    server.wait(Duration::from_secs(20), || UnixStream::connect(&socket)).unwrap();
    server
}

#[test]
fn drivers_of_servers_are_measured_beside_the_others() {
    let memcached = started("memcached -u root -t 1 -U 0 -s {dir}/m.sock", "m.sock");
    let redis = started("redis-server --port 0 --unixsocket {dir}/r.sock --dir {dir} --save ''", "r.sock");
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("a.json").display().to_string();
    let (socket, url) = (memcached.fill("{dir}/m.sock"), redis.fill("unix://{dir}/r.sock"));
    let line = ["cache", "--ratios", "1:10", "--sizes", "160", "-R", "2", "-d", "20ms", "-q", "--json", &json];
    let servers = ["--memcached", &socket, "--redis", &url];
    let code = skep_bench::run([&line[..], &servers[..]].concat().into_iter().map(Into::into).collect());
    assert_eq!(format!("{code:?}"), format!("{:?}", std::process::ExitCode::SUCCESS));
    let record = Record::read(Path::new(&json)).unwrap();
    let rounds = &record.experiments[0];
    for name in ["memory", "memcached", "memcached+Cache", "redis", "redis+Cache"] {
        let place = rounds.place(name).unwrap_or_else(|| panic!("{name} is missing"));
        // An error would be a read that did not find what was stored.
        assert_eq!(rounds.median(place, Measure::Errors), Some(0.0), "{name}");
        assert!(rounds.median(place, Measure::Rate).unwrap() > 0.0, "{name}");
    }
    let (near, far) = (rounds.place("memory").unwrap(), rounds.place("memcached").unwrap());
    assert!(rounds.median(near, Measure::Rate) > rounds.median(far, Measure::Rate));
}
