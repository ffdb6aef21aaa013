//! Room on the disk: a run that ends for want of it fails late, and of something else by its looks.

use crate::command;

/// What a first run writes to `target`, without what cargo keeps for the next compilation (`CARGO_INCREMENTAL=0`), in
/// gigabytes.
const FIRST_RUN: u64 = 16;

/// Says so if a first run has too little.
pub(crate) fn warn() {
    if command::root().join("target/xtask/test.log").exists() {
        return;
    }
    // Where nobody can say it, nobody does.
    let free = command::output("df", &["-P", "-k", "."]).ok().and_then(|table| free(&table));
    if let Some(free) = free.filter(|free| *free < FIRST_RUN) {
        println!("disk: {free} GB are free here, and a first run writes about {FIRST_RUN} GB to `target`");
    }
}

/// What stands in the column "Available" of `df -P -k`, in gigabytes.
fn free(table: &str) -> Option<u64> {
    let kib: u64 = table.lines().nth(1)?.split_whitespace().nth(3)?.parse().ok()?;
    Some(kib * 1024 / 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fourth_column_is_what_is_free() {
        let table =
            "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/sda1 264000000 231000000 9765625 96% /\n";
        assert_eq!(free(table), Some(10));
        assert_eq!(free("df: no such file"), None);
    }

    #[test]
    fn this_disk_has_room_or_none() {
        assert!(free(&command::output("df", &["-P", "-k", "."]).unwrap()).is_some());
    }
}
