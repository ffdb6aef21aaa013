//! What an instance receives, and which state it keeps.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use skep::module::{self, Reuse};
use skep::prelude::*;

#[derive(Service)]
#[service(GET "/")]
pub(crate) struct Index;

impl Handle for Index {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let peer = cx.peer();
        Ok(Response::text(format!("{} {:?} {}", cx.id(), peer.address, cx.origin())))
    }
}

/// A table that start-up work fills.
pub(crate) struct Words(pub(crate) HashMap<String, u32>);

#[derive(Service)]
#[service(GET "/words/{word}")]
pub(crate) struct Word {
    word: String,
}

impl Handle for Word {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let number = cx.state::<Words>().0.get(&self.word).or_404()?;
        Ok(Response::text(number.to_string()))
    }
}

/// What must differ between two instances, and what they must not share.
#[derive(Service)]
#[service(GET "/chance")]
pub(crate) struct Chance;

impl Handle for Chance {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let mut random = [0; 8];
        getrandom::fill(&mut random)?;
        let hash = RandomState::new().hash_one(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Ok(Response::text(format!("{:016x} {hash:016x} {now} {count}", u64::from_le_bytes(random))))
    }
}

#[derive(Service)]
#[service(GET "/kept/{requests}")]
pub(crate) struct Kept {
    requests: u32,
}

impl Handle for Kept {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        module::cache((self.requests > 0).then(|| Reuse::default().requests(self.requests)));
        Ok(Response::text(COUNT.fetch_add(1, Ordering::Relaxed).to_string()))
    }
}
