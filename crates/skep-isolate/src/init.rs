//! The start-up code of a component.

use wasmtime::Store;
use wasmtime::component::types::{ComponentFunc, ComponentItem, Type};
use wasmtime::component::{Component, ComponentExportIndex, Instance};

use crate::state::StoreData;
use crate::wasi::exports;

/// The names of its function.
const NAMES: [&str; 2] = ["init", "wizer-initialize"];

#[derive(Clone, Copy, Debug)]
pub(crate) enum Init {
    /// `init: func() -> result<_, string>`, as `wit/skep.wit` has it.
    Skep(ComponentExportIndex),
    /// `wizer-initialize: func()`, as the tool Wizer has it.
    Wizer(ComponentExportIndex),
}

impl Init {
    /// The start-up code, if the component exports some.
    pub(crate) fn of(component: &Component) -> Option<Self> {
        let function = |name: &str| match component.get_export(None, name)? {
            (ComponentItem::ComponentFunc(function), index) if function.params().len() == 0 => Some((function, index)),
            _ => None,
        };
        let gives_result = |function: &ComponentFunc| matches!(function.results().next(), Some(Type::Result(_)));
        let [ours, wizers] = NAMES;
        let ours = function(ours).filter(|(init, _)| gives_result(init)).map(|(_, index)| Self::Skep(index));
        let wizer = || function(wizers).filter(|(init, _)| init.results().len() == 0);
        ours.or_else(|| wizer().map(|(_, index)| Self::Wizer(index)))
    }

    /// True if a component that is not compiled yet exports a function of such a name.
    pub(crate) fn is_in(component: &[u8]) -> bool {
        exports(component, |name| NAMES.contains(&name))
    }

    pub(crate) async fn call(&self, store: &mut Store<StoreData>, instance: &Instance) -> wasmtime::Result<()> {
        match self {
            Self::Skep(index) => {
                let init = instance.get_typed_func::<(), (Result<(), String>,)>(&mut *store, index)?;
                let (done,) = init.call_async(store, ()).await?;
                done.map_err(|why| wasmtime::Error::msg(format!("the application does not start: {why}")))
            }
            Self::Wizer(index) => instance.get_typed_func::<(), ()>(&mut *store, index)?.call_async(store, ()).await,
        }
    }
}
