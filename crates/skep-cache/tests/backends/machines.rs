//! Several machines with tiers of their own in front of one Redis: what one changes, the others see.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use skep_cache::tiers::{Plan, Tiers};
use skep_cache::{Cache, EntryPolicy};
use tokio::sync::Notify;

use crate::process::{Process, on_runtime, until};
use crate::redis::on_socket;

type Pages = Cache<str, String, Tiers>;

/// A machine; time alone would show it nothing for an hour.
fn machine(server: &Process) -> Pages {
    let redis = format!("redis:unix:{}", server.path("r.sock").display());
    let driver = Plan::parse(["memory:1MiB bound=1h", &redis]).unwrap().open("x").unwrap();
    Cache::builder("pages").invalidation_lag(Duration::from_hours(1)).build(driver).unwrap()
}

/// Copies are true only if changes are heard; a change that was made before somebody listens is not waited for.
async fn listen(one: &Pages, other: &Pages) {
    for (writer, reader) in [(one, other), (other, one)] {
        let mut round = 0;
        until("a value", async || {
            round += 1;
            writer.set("first", &format!("{round}")).await.unwrap();
            let first = reader.get("first").await.unwrap();
            writer.set("first", &format!("{round}!")).await.unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
            first.is_some() && reader.get("first").await.unwrap() == Some(format!("{round}!"))
        })
        .await;
    }
}

#[test]
fn what_one_machine_writes_or_removes_the_others_hear() {
    let server = on_socket();
    on_runtime(async {
        let (one, other) = (machine(&server), machine(&server));
        listen(&one, &other).await;
        for value in ["one", "two", "three"] {
            one.set("a", &value.to_owned()).await.unwrap();
            until(value, async || other.get("a").await.unwrap().as_deref() == Some(value)).await;
        }
        other.remove("a").await.unwrap();
        until("the removal", async || one.get("a").await.unwrap().is_none()).await;
    });
}

#[test]
fn a_tag_that_one_machine_invalidates_the_others_hear() {
    let server = on_socket();
    on_runtime(async {
        let (one, other) = (machine(&server), machine(&server));
        listen(&one, &other).await;
        let tagged = EntryPolicy::new(Duration::from_hours(1)).tag("author:7");
        one.set_with("a", &"x".to_owned(), &tagged).await.unwrap();
        until("the value", async || other.get("a").await.unwrap().is_some()).await;
        one.invalidate_tag("author:7").await.unwrap();
        until("the invalidation", async || other.get("a").await.unwrap().is_none()).await;
        one.set("b", &"y".to_owned()).await.unwrap();
        until("the value", async || other.get("b").await.unwrap().is_some()).await;
        other.clear().await.unwrap();
        until("clearing", async || one.get("b").await.unwrap().is_none()).await;
    });
}

#[test]
fn a_driver_that_was_made_before_there_was_a_runtime_hears_too() {
    let server = on_socket();
    let (one, other) = (machine(&server), machine(&server));
    on_runtime(async { listen(&one, &other).await });
}

#[test]
fn many_who_wait_on_several_machines_cost_one_computation() {
    let server = on_socket();
    let computed = Arc::new(AtomicUsize::new(0));
    let machines: Vec<_> = (0..4)
        .map(|_| {
            let (pages, computed) = (machine(&server), Arc::clone(&computed));
            std::thread::spawn(move || {
                on_runtime(async {
                    let waiters = (0..250).map(|_| {
                        let (pages, computed) = (pages.clone(), Arc::clone(&computed));
                        tokio::spawn(async move {
                            let compute = async || {
                                computed.fetch_add(1, Ordering::Relaxed);
                                tokio::time::sleep(Duration::from_millis(100)).await;
                                Ok::<_, std::io::Error>("computed".to_owned())
                            };
                            pages.get_or("cold", compute).await.unwrap()
                        })
                    });
                    for waiter in waiters.collect::<Vec<_>>() {
                        assert_eq!(waiter.await.unwrap(), "computed");
                    }
                });
            })
        })
        .collect();
    for machine in machines {
        machine.join().unwrap();
    }
    assert_eq!(computed.load(Ordering::Relaxed), 1);
}

/// Fencing: who stood still longer than the lease is refused, and does not overwrite what was computed since.
#[test]
fn who_comes_back_after_its_lease_overwrites_nothing() {
    let server = on_socket();
    on_runtime(async {
        let redis = format!("redis:unix:{}", server.path("r.sock").display());
        let pages = || {
            let driver = Plan::parse([&redis]).unwrap().open("x").unwrap();
            Cache::<str, String>::builder("pages").lease(Duration::from_millis(200)).build(driver).unwrap()
        };
        let (late, other) = (pages(), pages());
        let (has_begun, may_end) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (begins, ends) = (Arc::clone(&has_begun), Arc::clone(&may_end));
        let stood_still = tokio::spawn(async move {
            let compute = async || {
                begins.notify_one();
                ends.notified().await;
                Ok::<_, std::io::Error>("late".to_owned())
            };
            late.get_or("a", compute).await.unwrap()
        });
        has_begun.notified().await;
        let compute = async || Ok::<_, std::io::Error>("in time".to_owned());
        assert_eq!(other.get_or("a", compute).await.unwrap(), "in time");
        may_end.notify_one();
        stood_still.await.unwrap();
        assert_eq!(other.get("a").await.unwrap().as_deref(), Some("in time"));
    });
}

/// Nothing stale overwrites what is fresh, through all tiers: what began before a removal is not stored after it.
#[test]
fn what_another_machine_removed_while_it_was_computed_is_not_stored() {
    let server = on_socket();
    on_runtime(async {
        let (one, other) = (machine(&server), machine(&server));
        listen(&one, &other).await;
        let remover = other.clone();
        let compute = async move || {
            let read_before = "old".to_owned();
            remover.remove("a").await.unwrap();
            Ok::<_, std::io::Error>(read_before)
        };
        one.get_or("a", compute).await.unwrap();
        assert_eq!((one.get("a").await.unwrap(), other.get("a").await.unwrap()), (None, None));
        assert_eq!(one.stats().refused, 1);
    });
}
