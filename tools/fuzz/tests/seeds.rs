//! Every property holds for what its fuzz target begins with.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use skep_fuzz::{TARGETS, seeds};

#[test]
fn every_property_holds_for_its_seeds() {
    for (name, property) in TARGETS {
        let seeds = seeds::all().into_iter().find(|(target, _)| *target == name).map(|(_, seeds)| seeds);
        let seeds = seeds.unwrap_or_else(|| panic!("{name} has no seeds"));
        assert!(!seeds.is_empty(), "{name} has no seeds");
        for seed in &seeds {
            property(seed);
        }
    }
}

#[test]
fn every_target_has_a_property_that_is_tested() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz_targets");
    let files = fs::read_dir(folder).expect("it is there").flatten();
    let mut targets: BTreeSet<String> =
        files.map(|file| file.path().file_stem().expect("a name").to_string_lossy().into_owned()).collect();
    assert!(targets.remove("shared_file"), "it has a property of its own");
    assert_eq!(targets, TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect());
}
