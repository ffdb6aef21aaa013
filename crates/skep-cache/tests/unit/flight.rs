//! Unit tests of `flight`.

use super::*;
use crate::block::block_on;

fn follower(single_flight: &SingleFlight<u32>) -> Follower<u32> {
    match single_flight.join(b"key") {
        Role::Follower(follower) => follower,
        Role::Leader(_) => panic!("nobody leads"),
    }
}

fn leader(single_flight: &SingleFlight<u32>) -> Leader<'_, u32> {
    match single_flight.join(b"key") {
        Role::Leader(leader) => leader,
        Role::Follower(_) => panic!("somebody leads"),
    }
}

#[test]
fn all_get_what_the_leader_computed() {
    let single_flight = SingleFlight::default();
    let leads = leader(&single_flight);
    let (one, two) = (follower(&single_flight), follower(&single_flight));
    leads.publish(7);
    assert_eq!((block_on(one), block_on(two)), (Some(7), Some(7)));
    assert_eq!(single_flight.len(), 0);
}

#[test]
fn a_dropped_leader_lets_another_lead() {
    let single_flight = SingleFlight::default();
    let leads = leader(&single_flight);
    let follows = follower(&single_flight);
    drop(leads);
    assert_eq!(block_on(follows), None);
    drop(leader(&single_flight));
    assert_eq!(single_flight.len(), 0);
}
