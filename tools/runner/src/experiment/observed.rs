//! What it costs a request to be observed.

use super::{Experiment, KEEP_ALIVE, Same, variant};
use crate::goal::Goal;
use crate::measure::Measure::Rate;
use crate::program::{Observed, Program};

pub(crate) const ALL: &[Experiment] = &[Experiment {
    name: "observed",
    about: "13 bytes, keep-alive: what an access log, the flight recorder and metrics cost a request",
    loads: KEEP_ALIVE,
    variants: &[
        variant("skep", Program::SkepHello { log: false }, "/"),
        variant("access-log", Program::SkepObserved(Observed::AccessLog), "/"),
        variant("recorder", Program::SkepObserved(Observed::Recorder), "/"),
        variant("scraped", Program::SkepObserved(Observed::Scraped), "/"),
    ],
    absent: &[],
    same: Same::Text("Hello, world!"),
    goals: &[
        Goal::at_least("access-log", Rate, 0.96, "skep"),
        Goal::at_least("recorder", Rate, 0.98, "skep"),
        Goal::at_least("scraped", Rate, 0.98, "skep"),
    ],
}];
