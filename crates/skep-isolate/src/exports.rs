//! The functions that the host calls: found once when a component is linked.

use wasmtime::component::{Component, ComponentExportIndex, InstancePre};
use wasmtime_wasi_http::p2;
#[cfg(feature = "wasi03")]
use wasmtime_wasi_http::p3;

use crate::services::versioned;
use crate::state::StoreData;
use crate::wasi::Version;

pub(crate) struct Exports {
    /// The function for requests.
    pub(crate) handler: Handler,
    /// The interface `handler` of `wit/skep.wit`, if `skep::component!` made the component.
    pub(crate) direct: Option<DirectHandler>,
    /// What runs without a request.
    pub(crate) jobs: Option<Jobs>,
}

/// The function for requests that a component exports.
pub(crate) enum Handler {
    /// `wasi:http/incoming-handler` of WASI 0.2.
    Wasi02(p2::bindings::ProxyIndices),
    /// `wasi:http/handler` of WASI 0.3.
    #[cfg(feature = "wasi03")]
    Wasi03(p3::bindings::ServiceIndices),
}

/// The functions of the interface `handler`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectHandler {
    pub(crate) handle: ComponentExportIndex,
    pub(crate) more: ComponentExportIndex,
    /// The error page for a request that failed.
    pub(crate) failed: Option<ComponentExportIndex>,
    /// It reads bodies in pieces.
    pub(crate) streams_bodies: bool,
}

/// The functions of the interface `jobs`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jobs {
    pub(crate) names: ComponentExportIndex,
    pub(crate) run: ComponentExportIndex,
}

impl Exports {
    pub(crate) fn of(pre: &InstancePre<StoreData>) -> wasmtime::Result<Self> {
        let component = pre.component();
        Ok(Self { handler: Handler::of(pre)?, direct: DirectHandler::of(component), jobs: Jobs::of(component) })
    }
}

impl Handler {
    /// The newer one, if there are both.
    fn of(pre: &InstancePre<StoreData>) -> wasmtime::Result<Self> {
        #[cfg(feature = "wasi03")]
        {
            let component = pre.component();
            let kind = component.component_type();
            if kind.exports(component.engine()).any(|(name, _)| is_handler(name, Version::Wasi03)) {
                return Ok(Self::Wasi03(p3::bindings::ServiceIndices::new(pre)?));
            }
        }
        Ok(Self::Wasi02(p2::bindings::ProxyIndices::new(pre)?))
    }

    pub(crate) fn is_wasi02(&self) -> bool {
        matches!(self, Self::Wasi02(_))
    }
}

/// True if this is the interface for requests of a version of WASI.
pub(crate) fn is_handler(name: &str, version: Version<'_>) -> bool {
    let interface = match version {
        Version::Wasi02 => "wasi:http/incoming-handler@",
        _ => "wasi:http/handler@",
    };
    name.starts_with(interface) && Version::of(name).1 == version
}

impl DirectHandler {
    fn of(component: &Component) -> Option<Self> {
        let (_, handler) = component.get_export(None, versioned("handler").as_str())?;
        let function = |name: &str| component.get_export(Some(&handler), name).map(|(_, function)| function);
        let body = versioned("body");
        let streams_bodies = component.component_type().imports(component.engine()).any(|(name, _)| name == body);
        Some(Self { handle: function("handle")?, more: function("more")?, failed: function("failed"), streams_bodies })
    }
}

impl Jobs {
    fn of(component: &Component) -> Option<Self> {
        let (_, jobs) = component.get_export(None, versioned("jobs").as_str())?;
        let function = |name: &str| component.get_export(Some(&jobs), name).map(|(_, function)| function);
        Some(Self { names: function("names")?, run: function("run")? })
    }
}
