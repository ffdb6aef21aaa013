//! SIGINT and SIGTERM end a run in order: no server stays behind, and what was measured is shown.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGINT, SIGTERM};

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// From now on the first of these signals is noted; a second one ends the process, as without us.
pub(crate) fn listen() -> io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&ASKED))?;
        signal_hook::flag::register(signal, Arc::clone(&ASKED))?;
    }
    Ok(())
}

/// Whether somebody wants it to end.
pub(crate) fn is_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
