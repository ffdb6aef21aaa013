//! Files on a real S3 server.

use crate::promises::ALL;
use crate::server::{SECRET, Server};

#[test]
#[ignore = "needs versitygw"]
fn an_s3_server_keeps_every_promise() {
    for (name, promise) in ALL {
        println!("{name}");
        let server = Server::start();
        promise(&server.client(SECRET), &server.files());
    }
}
