//! Unit tests of `offload`.

use super::*;
use std::sync::mpsc;

#[test]
fn what_finds_the_queue_full_is_dropped() {
    let (pool, (sender, receiver)) = (Pool::new(1, 2), mpsc::channel());
    let (release, gate) = mpsc::channel::<()>();
    let (begun, has_begun) = mpsc::channel();
    pool.run(Box::new(move || {
        begun.send(()).unwrap();
        gate.recv().unwrap();
    }));
    has_begun.recv().unwrap();
    for number in 0..5 {
        let sender = sender.clone();
        pool.run(Box::new(move || sender.send(number).unwrap()));
    }
    drop(sender);
    release.send(()).unwrap();
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn threads_start_on_demand_up_to_the_limit() {
    let pool = Pool::new(2, 100);
    assert_eq!(pool.shared.lock().threads, 0);
    let (sender, receiver) = mpsc::channel();
    for number in 0..20 {
        let sender = sender.clone();
        pool.run(Box::new(move || sender.send(number).unwrap()));
    }
    let mut done: Vec<i32> = receiver.iter().take(20).collect();
    done.sort_unstable();
    assert_eq!(done, (0..20).collect::<Vec<_>>());
    assert!((1..=2).contains(&pool.shared.lock().threads));
}

#[test]
fn a_panicking_job_does_not_end_its_thread() {
    let pool = Pool::new(1, 100);
    let (sender, receiver) = mpsc::channel();
    pool.run(Box::new(|| std::panic::resume_unwind(Box::new("on purpose"))));
    pool.run(Box::new(move || sender.send(()).unwrap()));
    receiver.recv().unwrap();
}
