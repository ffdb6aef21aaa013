//! The Rust of the article `logs-that-never-wait`.

fn paid_twice(id: u32) {
tracing::warn!(target: "shop", order = %id, "paid twice");
}
