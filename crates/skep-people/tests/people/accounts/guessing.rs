//! What responses tell of who has an account.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::*;

/// All of a response that a client sees, but for the ids and tokens that each has.
fn seen(answer: &TestResponse) -> (u16, Vec<String>, String) {
    let fields = answer.headers().iter().map(|(name, value)| without_ids(&format!("{name}: {value:?}"))).collect();
    (answer.status().as_u16(), fields, without_ids(answer.text()))
}

fn without_ids(text: &str) -> String {
    let is_end = |sign: char| !(sign.is_ascii_alphanumeric() || "-_".contains(sign));
    text.split_inclusive(is_end).map(|word| if word.len() >= 16 { "*" } else { word }).collect()
}

#[test]
fn two_hundred_names_known_and_unknown_get_the_same_bytes() {
    let (world, _) = World::with_ada();
    let known: Vec<String> = (0..100).map(|number| format!("known{number}@example.org")).collect();
    for email in &known {
        let insert = query("insert into user (email, password) values (?, null)", email.as_str());
        world.site.db().write(|db| db.execute(insert)).unwrap();
    }
    for path in ["/sign-up", "/sign-in/link", "/reset", "/sign-in"] {
        let ask = |email: &str| {
            let wrong = [("email", email), ("password", "wrong")];
            let fields = if path == "/sign-in" { &wrong[..] } else { &wrong[..1] };
            seen(&world.client().post(path, fields))
        };
        let first = ask("nobody@example.org");
        for (number, email) in known.iter().enumerate() {
            assert_eq!(ask(email), first, "{path}");
            assert_eq!(ask(&format!("unknown{number}@example.org")), first, "{path}");
        }
    }
    let mails = world.client().mails();
    let to = |subject: &str| mails.iter().filter(|mail| mail.subject == subject).count();
    assert_eq!((to("Sign in"), to("A new password"), to("You have an account")), (100, 100, 100));
    assert_eq!(to("Welcome"), 102, "only new addresses can sign up");
}

/// In the step `long` of `cargo xtask test`.
mod long {
    use super::{PAIRS, ROUNDS, World, query, seems_to_differ};

    /// Other work on the machine decides it.
    #[test]
    #[ignore = "measures time: run it alone on an idle machine"]
    fn how_long_it_takes_does_not_tell_who_has_an_account() {
        let (world, _) = World::with_ada();
        let known: Vec<String> = (0..ROUNDS * PAIRS).map(|number| format!("known{number}@example.org")).collect();
        world
            .site
            .db()
            .write(|db| {
                db.transaction(|db| {
                    for email in &known {
                        db.execute(query("insert into user (email, password) values (?, null)", email.as_str()))?;
                    }
                    Ok(())
                })
            })
            .unwrap();
        for path in ["/sign-up", "/sign-in/link", "/reset", "/sign-in"] {
            // Of equal times, each round finds a difference in one case of a hundred.
            let differ = (0..ROUNDS).all(|round| seems_to_differ(&world, path, round * PAIRS..(round + 1) * PAIRS));
            assert!(!differ, "{path} tells who has an account");
        }
    }
}

const ROUNDS: u32 = 3;

/// Of a round: 2,000 attempts.
const PAIRS: u32 = 1_000;

/// Whether a Mann-Whitney test tells the times of known addresses from those of others.
fn seems_to_differ(world: &World, path: &str, numbers: Range<u32>) -> bool {
    let took = |email: String| {
        let wrong = [("email", &*email), ("password", "wrong")];
        let fields = if path == "/sign-in" { &wrong[..] } else { &wrong[..1] };
        let (client, begun) = (world.client(), Instant::now());
        client.post(path, fields);
        begun.elapsed()
    };
    // Each comes first as often: the second one finds warm caches.
    let pairs = numbers.map(|number| {
        let (known, other) = (format!("known{number}@example.org"), format!("other{number}@example.org"));
        if number % 2 == 0 {
            return (took(known), took(other));
        }
        let other = took(other);
        (took(known), other)
    });
    let (known, unknown): (Vec<Duration>, Vec<Duration>) = pairs.unzip();
    let p = mann_whitney(&known, &unknown);
    println!("{path}: p = {p:.3}, medians {:?} and {:?}", median(known), median(unknown));
    p <= 0.01
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// The two-sided p of the rank-sum test, by its normal approximation.
#[expect(
    clippy::cast_precision_loss,
    clippy::many_single_char_names,
    reason = "small numbers, and the names of the books"
)]
fn mann_whitney(first: &[Duration], second: &[Duration]) -> f64 {
    let mut all: Vec<(Duration, bool)> = first.iter().map(|time| (*time, true)).collect();
    all.extend(second.iter().map(|time| (*time, false)));
    all.sort();
    let ranks: usize = all.iter().enumerate().filter(|(_, (_, is_first))| *is_first).map(|(rank, _)| rank + 1).sum();
    let (n, m) = (first.len() as f64, second.len() as f64);
    let z = (ranks as f64 - n * (n + m + 1.0) / 2.0) / (n * m * (n + m + 1.0) / 12.0).sqrt();
    // Abramowitz and Stegun, 7.1.26.
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let series = [0.254_829_592, -0.284_496_736, 1.421_413_741, -1.453_152_027, 1.061_405_429];
    let sum = series.iter().rev().fold(0.0, |sum, factor| (sum + factor) * t);
    sum * (-x * x).exp()
}
