//! Stands in for the framework until it is merged.
#![allow(missing_docs)]
use std::{future::Future, net::SocketAddr, path::PathBuf, rc::Rc, sync::Arc};
use crate::{Body, Error, Response};
use http::request::Parts;

pub struct App { pub name: Option<(&'static str, &'static str)> }
#[derive(Clone)]
#[non_exhaustive]
pub struct Setup { pub data: PathBuf, pub development: bool, pub limits: Limits, pub offload: Arc<dyn offload::Offload> }
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits { pub body: u64, pub form_fields: usize, pub query_parameters: usize }
pub mod offload { pub trait Offload: Send + Sync { fn run(&self, job: Box<dyn FnOnce() + Send>); } 
 pub struct Inline; impl Offload for Inline { fn run(&self, job: Box<dyn FnOnce() + Send>) { job() } } }
impl Default for Setup { fn default() -> Self { Self { data: "data".into(), development: false, limits: Limits { body: 1 << 20, form_fields: 1000, query_parameters: 1000 }, offload: Arc::new(offload::Inline) } } }
#[derive(Debug)]
pub struct StartError;
impl StartError { pub fn problems(&self) -> &[String] { &[] } }
impl std::fmt::Display for StartError { fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str("?") } }
impl std::error::Error for StartError {}
pub struct RouteLine { pub method: String, pub path: String, pub target: String }
impl App {
    pub fn new() -> Self { Self { name: None } }
    pub fn named(mut self, n: &'static str, v: &'static str) -> Self { self.name = Some((n, v)); self }
    pub fn name(&self) -> Option<(&'static str, &'static str)> { self.name }
    pub fn routes(&self) -> Vec<RouteLine> { vec![] }
    pub fn open(self, _: Setup) -> Result<Site, StartError> { Ok(Site) }
}
pub struct Site;
#[derive(Clone)]
pub struct Local { site: Rc<Arc<Site>> }
impl Site { pub fn local(self: &Arc<Self>) -> Local { Local { site: Rc::new(self.clone()) } } }
impl Local {
    pub fn answer(&self, request: Request) -> impl Future<Output = Response> + use<> {
        let this = self.clone();
        async move { let _ = (this.site.clone(), request.parts, request.body, request.peer); Response::text("Hello, world!") }
    }
    pub fn failure(&self, error: &Error) -> Response { Response::text(error.to_string()).with_status(error.status()) }
}
pub struct Request { parts: Parts, body: Body, peer: Peer }
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Peer { pub address: Option<SocketAddr>, pub tls: bool }
impl Peer { pub fn new(address: Option<SocketAddr>, tls: bool) -> Self { Self { address, tls } } }
impl Request {
    pub fn new(parts: Parts, body: Body) -> Self { Self { parts, body, peer: Peer::default() } }
    pub fn with_peer(mut self, peer: Peer) -> Self { self.peer = peer; self }
}
