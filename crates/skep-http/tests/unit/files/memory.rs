//! Unit tests of `files::memory`.

use super::*;

fn entry(weight: usize) -> Arc<Entry> {
    let resource = Resource { variants: Vec::new() };
    Arc::new(Entry { resource, origins: Vec::new(), looked: None, used: AtomicBool::new(true), weight })
}

fn weight(memory: &Memory) -> usize {
    memory.lanes.iter().map(|lane| lane.read().unwrap().weight).sum()
}

#[test]
fn the_total_stays_within_its_bound() {
    let memory = Memory::new(100_000, 100_000);
    for at in 0..5000 {
        memory.hold(&format!("file-{at}"), entry(500 + at % 500));
        assert!(weight(&memory) <= 100_000);
    }
    assert!(weight(&memory) > 60_000, "what fits is kept");
}

#[test]
fn what_is_used_outlives_what_is_not() {
    let memory = Memory::new(10_000, 10_000);
    memory.hold("hot", entry(100));
    let mut survived = 0;
    for at in 0..1000 {
        memory.hold(&format!("cold-{at}"), entry(1000));
        survived += usize::from(memory.get("hot").is_some());
        if memory.get("hot").is_none() {
            memory.hold("hot", entry(100));
        }
    }
    assert!(survived > 950, "{survived} of 1000");
}

#[test]
fn holding_again_and_forgetting_keep_the_books() {
    let memory = Memory::new(10_000, 10_000);
    memory.hold("a", entry(100));
    memory.hold("a", entry(300));
    assert_eq!(weight(&memory), 300);
    memory.forget("a");
    memory.forget("a");
    assert_eq!(weight(&memory), 0);
    assert!(memory.get("a").is_none());
}

#[test]
#[cfg(unix)]
fn siblings_are_looked_for_again_after_their_time() {
    let temp = tempfile::tempdir().unwrap();
    std::fs::write(temp.path().join("a.css"), "a").unwrap();
    let root = Root::open(temp.path()).unwrap();
    let stamp = root.find("a.css").unwrap().stamp;
    let entry = |may_have_siblings| {
        let origin = Origin { place: Root::place("a.css").unwrap(), stamp };
        Entry::new(Resource { variants: Vec::new() }, vec![origin], may_have_siblings)
    };
    let mut text = entry(true);
    assert!(text.is_current(&root, 0));
    text.looked = Instant::now().checked_sub(SIBLINGS_AGE);
    assert!(!text.is_current(&root, 0));
    assert!(entry(false).is_current(&root, 0));
}
