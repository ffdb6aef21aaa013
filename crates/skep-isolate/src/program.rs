//! Linked code, and what each of its instances is made with.

use std::sync::{Arc, OnceLock};

use wasmtime::component::InstancePre;

use crate::init::Init;
use crate::limits::Limits;
use crate::recycle::ResetPlan;
use crate::state::{Grants, StoreData};
use crate::sys::{FaultShortcut, Pages};

pub(crate) struct Program {
    pub(crate) pre: InstancePre<StoreData>,
    /// Start-up code that each new instance runs.
    pub(crate) init: Option<Init>,
    /// How instances are reset after a request. `None`: each request gets a new instance.
    pub(crate) reset: Option<ResetPlan>,
    /// The memory of a new instance, copied from the first one.
    pub(crate) image: OnceLock<Pages>,
    /// The setting `page_fault_shortcut`.
    pub(crate) shortcut: Option<Arc<FaultShortcut>>,
    pub(crate) grants: Arc<Grants>,
    pub(crate) limits: Limits,
}
