//! What a service promises, seen from the outside. One executable for all of it, since each takes seconds to compile
//! and link.

mod access;
mod assets;
mod compression;
mod contract;
mod cors;
mod development;
mod files;
mod functions;
mod guards;
mod hardening;
mod judged;
mod language;
mod mail;
mod many;
mod openapi;
mod routing;
mod rules;
mod security_headers;
mod streams;
mod tower;
mod typed;
