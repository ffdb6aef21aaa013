use skep_cache::driver::{Header, Record, When, ready};
use skep_cache::{Driver, Shared, Time};
use std::time::Instant;
fn main() {
    let dir = std::env::args().nth(1).filter(|a| a.starts_with('/')).unwrap_or("/dev/shm".into());
    let path = format!("{dir}/skep-bench-{}", std::process::id());
    let map = Shared::at(&path, 64 << 20).open().unwrap();
    let now = Time::from_millis(1_800_000_000_000);
    let n = 100_000;
    let mut x = 88172645463325252u64;
    let mut rnd = move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    };
    let keys: Vec<Vec<u8>> = (0..n)
        .map(|_| {
            let (a, b) = (rnd(), rnd());
            format!(
                "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
                a as u32,
                a >> 48,
                (a >> 32) & 0xffff,
                b >> 48,
                b & 0xffff_ffff_ffff
            )
            .into_bytes()
        })
        .collect();
    let record = Record::new(&Header::default(), &[], &[b'x'; 160]);
    for k in &keys {
        assert!(ready(map.set(k, &record, When::Always, now)).unwrap());
    }
    let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let at = smaps.find("skep-bench").unwrap();
    for l in smaps[at..].lines().take(26).filter(|l| l.contains("Pmd") || l.contains("Rss") || l.contains("Huge")) {
        println!("{l}");
    }
    let order: Vec<u32> = (0..2_000_000).map(|_| (rnd() % n) as u32).collect();
    for round in 0..5 {
        let t = Instant::now();
        let mut hits = 0;
        for &i in &order {
            hits += usize::from(ready(map.get(&keys[i as usize], now, |e| e.value()[3])).unwrap().is_some());
        }
        let get = t.elapsed().as_nanos() as f64 / order.len() as f64;
        let mut buf = Vec::new();
        let t = Instant::now();
        for &i in &order {
            map.copy(&keys[i as usize], now, &mut buf);
        }
        let copy = t.elapsed().as_nanos() as f64 / order.len() as f64;
        let t = Instant::now();
        for &i in &order[..500_000] {
            ready(map.set(&keys[i as usize], &record, When::Always, now)).unwrap();
        }
        let set = t.elapsed().as_nanos() as f64 / 500_000.0;
        println!("{round}: get {get:.0} ns copy {copy:.0} ns set {set:.0} hits {hits} {:?}", map.usage());
    }
    std::fs::remove_file(path).unwrap();
}
