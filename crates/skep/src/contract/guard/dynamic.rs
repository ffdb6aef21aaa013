//! A guard whose value nobody needs, without its type.

use std::any::{TypeId, type_name};
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;

use super::{Guard, GuardInfo};
use crate::context::cx::Cx;
use skep_http::response::Result;

/// A future of a check: it stays on its thread.
type CheckFuture<'c> = Pin<Box<dyn Future<Output = Result<()>> + 'c>>;

/// See [`GuardInfo`] for what is known of it.
pub(crate) struct DynGuard {
    pub(crate) id: TypeId,
    pub(crate) info: GuardInfo,
    check: Box<dyn Check>,
}

trait Check: Send + Sync {
    fn check<'c>(&self, cx: &'c mut Cx<'_>) -> CheckFuture<'c>;
}

struct Typed<G>(PhantomData<fn() -> G>);

impl<G: Guard> Check for Typed<G> {
    fn check<'c>(&self, cx: &'c mut Cx<'_>) -> CheckFuture<'c> {
        Box::pin(async move { G::check(cx).await.map(drop) })
    }
}

impl DynGuard {
    pub(crate) fn of<G: Guard>() -> Self {
        let check = Box::new(Typed::<G>(PhantomData));
        Self { id: TypeId::of::<G>(), info: GuardInfo::of::<G>(short(type_name::<G>())), check }
    }

    pub(crate) fn check<'c>(&self, cx: &'c mut Cx<'_>) -> CheckFuture<'c> {
        self.check.check(cx)
    }
}

/// The name of a type without the path before it; what is generic stays as it is.
fn short(name: &'static str) -> &'static str {
    if name.contains('<') { name } else { name.rsplit("::").next().unwrap_or(name) }
}

skep_units::opaque_debug!(DynGuard);
