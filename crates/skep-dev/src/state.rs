//! What the browser has to know, and who waits for news of it.

use std::sync::Arc;

use tokio::sync::watch;

/// What is the case now.
#[derive(Clone, Debug)]
pub(crate) struct DevState {
    /// Which version serves; another number for each, and after each asset that no page can exchange.
    pub(crate) version: u64,
    /// Counts changes of style sheets.
    pub(crate) styles: u64,
    /// Whether a version answers requests.
    pub(crate) serves: bool,
    /// Why the source is not what serves.
    pub(crate) problem: Option<Arc<Problem>>,
    /// What the compiler is at.
    pub(crate) progress: String,
    /// The number of problems so far.
    problems: u64,
}

/// Why there is no new version.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) id: u64,
    /// In a few words.
    pub(crate) title: String,
    /// Text for a terminal.
    pub(crate) text: String,
    /// What to do about it.
    pub(crate) suggestion: Option<&'static str>,
}

/// The state, to change and to wait for.
#[derive(Debug)]
pub(crate) struct News(watch::Sender<DevState>);

impl News {
    /// `now`: numbers that no earlier run has given to a page that is still open.
    pub(crate) fn new(now: u64) -> Self {
        let state =
            DevState { version: now, styles: 0, serves: false, problem: None, progress: String::new(), problems: 0 };
        Self(watch::Sender::new(state))
    }

    pub(crate) fn now(&self) -> DevState {
        self.0.borrow().clone()
    }

    pub(crate) fn follow(&self) -> watch::Receiver<DevState> {
        self.0.subscribe()
    }

    /// Another version serves.
    pub(crate) fn served(&self) {
        self.0.send_modify(|state| {
            state.version += 1;
            state.serves = true;
            state.problem = None;
            state.progress.clear();
        });
    }

    /// What is built is what serves.
    pub(crate) fn unchanged(&self) {
        self.0.send_modify(|state| {
            state.problem = None;
            state.progress.clear();
        });
    }

    pub(crate) fn failed(&self, title: String, text: String, suggestion: Option<&'static str>) {
        self.0.send_modify(|state| {
            state.problems += 1;
            state.problem = Some(Arc::new(Problem { id: state.problems, title, text, suggestion }));
            state.progress.clear();
        });
    }

    /// No version answers.
    pub(crate) fn stopped(&self) {
        self.0.send_modify(|state| state.serves = false);
    }

    pub(crate) fn progressed(&self, progress: String) {
        self.0.send_if_modified(|state| {
            let is_new = state.progress != progress;
            state.progress = progress;
            is_new
        });
    }

    /// Files changed that are read from the disk: style sheets only, or others, too.
    pub(crate) fn assets_changed(&self, only_styles: bool) {
        self.0.send_modify(|state| if only_styles { state.styles += 1 } else { state.version += 1 });
    }
}

impl DevState {
    /// As an event of `/-/dev/events`.
    pub(crate) fn event(&self) -> String {
        let Self { version, styles, problem, progress, .. } = self;
        let problem = problem.as_ref().map(|problem| problem.id);
        let json =
            serde_json::json!({ "version": version, "styles": styles, "problem": problem, "progress": progress });
        format!("data: {json}\n\n")
    }
}
