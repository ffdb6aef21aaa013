//! Unit tests of `flight`.

use super::*;
use crate::block::block_on;

fn follower(flights: &Flights<u32>) -> Follower<u32> {
    match flights.join(b"key") {
        Role::Follower(follower) => follower,
        Role::Leader(_) => panic!("nobody leads"),
    }
}

fn leader(flights: &Flights<u32>) -> Leader<'_, u32> {
    match flights.join(b"key") {
        Role::Leader(leader) => leader,
        Role::Follower(_) => panic!("somebody leads"),
    }
}

#[test]
fn all_get_what_the_leader_computed() {
    let flights = Flights::default();
    let leads = leader(&flights);
    let (one, two) = (follower(&flights), follower(&flights));
    leads.publish(7);
    assert_eq!((block_on(one), block_on(two)), (Some(7), Some(7)));
    assert_eq!(flights.len(), 0);
}

#[test]
fn a_dropped_leader_lets_another_lead() {
    let flights = Flights::default();
    let leads = leader(&flights);
    let follows = follower(&flights);
    drop(leads);
    assert_eq!(block_on(follows), None);
    drop(leader(&flights));
    assert_eq!(flights.len(), 0);
}
