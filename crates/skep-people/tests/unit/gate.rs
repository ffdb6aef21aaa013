//! Turns are taken in order, never by more than there are cores, and given back.

use futures_util::FutureExt;

use super::*;

#[test]
fn as_many_as_there_are_cores_enter_and_the_rest_waits_its_turn() {
    let mut inside: Vec<Permit> =
        (0..cores()).map(|_| enter().now_or_never().flatten().expect("there is room")).collect();
    let mut first = Box::pin(enter());
    let mut second = Box::pin(enter());
    assert!(first.as_mut().now_or_never().is_none() && second.as_mut().now_or_never().is_none());
    inside.pop();
    let turn = first.as_mut().now_or_never().flatten().expect("the first one has waited longest");
    assert!(second.as_mut().now_or_never().is_none());
    // The client of the second one is gone: its turn is abandoned.
    drop(second);
    drop(turn);
    assert!(enter().now_or_never().flatten().is_some());

    let waiting: Vec<_> = (0..=QUEUE)
        .map(|_| {
            let mut turn = Box::pin(enter());
            let now = turn.as_mut().now_or_never();
            (turn, now)
        })
        .collect();
    // The turn that was taken above is back, so one of these has it.
    let refused = waiting.iter().filter(|(_, now)| matches!(now, Some(None))).count();
    let admitted = waiting.iter().filter(|(_, now)| matches!(now, Some(Some(_)))).count();
    assert_eq!((admitted, refused), (1, 0));
    assert!(matches!(enter().now_or_never(), Some(None)), "the queue is full");
    drop(waiting);
    drop(inside);
    assert_eq!(skep_units::lock(&GATE.state).running, 0, "all turns are back");
}
