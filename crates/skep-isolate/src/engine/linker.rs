//! What a component may import: WASI 0.2, the services of Skep, and on its own engine WASI 0.3.
//!
//! Most requests use no clock, no environment and no random number. So the state of WASI's interfaces is made when one of them is first
//! called (`State::ctx`); streams and HTTP, which every request uses, need none of it.

use wasmtime::Result;
use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::clocks::WasiClocks;
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView};
use wasmtime_wasi::p2::bindings::{cli, clocks, filesystem, io, random, sockets};
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::sockets::{WasiSockets, WasiSocketsView};
use wasmtime_wasi_http::p2::add_only_http_to_linker_async;

use crate::state::State;
use crate::wasi::Version;

/// The packages that are provided in version 0.2.
const PACKAGES: &[&str] =
    &["wasi:cli", "wasi:clocks", "wasi:filesystem", "wasi:http", "wasi:io", "wasi:random", "wasi:sockets"];

/// In 0.3 it is a part of the component model.
const GONE: &str = "wasi:io";

/// True if a package is provided in this version.
pub(crate) fn has(package: &str, version: Version<'_>) -> bool {
    match version {
        Version::Wasi02 => PACKAGES.contains(&package),
        Version::Wasi03 => PACKAGES.contains(&package) && package != GONE,
        Version::Other(_) => false,
    }
}

struct Table;

impl HasData for Table {
    type Data<'a> = &'a mut ResourceTable;
}

pub(super) fn fill(l: &mut Linker<State>) -> Result<()> {
    io::error::add_to_linker::<State, Table>(l, State::table)?;
    io::poll::add_to_linker::<State, Table>(l, State::table)?;
    io::streams::add_to_linker::<State, Table>(l, State::table)?;
    add_only_http_to_linker_async(l)?;
    clocks::wall_clock::add_to_linker::<State, WasiClocks>(l, State::clocks)?;
    clocks::monotonic_clock::add_to_linker::<State, WasiClocks>(l, State::clocks)?;
    random::random::add_to_linker::<State, WasiRandom>(l, |state| state.wasi().random())?;
    random::insecure::add_to_linker::<State, WasiRandom>(l, |state| state.wasi().random())?;
    random::insecure_seed::add_to_linker::<State, WasiRandom>(l, |state| state.wasi().random())?;
    filesystem::preopens::add_to_linker::<State, WasiFilesystem>(l, State::filesystem)?;
    filesystem::types::add_to_linker::<State, WasiFilesystem>(l, State::filesystem)?;
    command_line(l)?;
    network(l)?;
    crate::services::add_to_linker(l)
}

/// WASI 0.3, whose functions run concurrently.
#[cfg(feature = "wasi03")]
pub(super) fn fill_wasi03(l: &mut Linker<State>) -> Result<()> {
    wasmtime_wasi::p3::add_to_linker(l)?;
    wasmtime_wasi_http::p3::add_to_linker(l)
}

fn command_line(l: &mut Linker<State>) -> Result<()> {
    cli::exit::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::environment::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::stdin::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::stdout::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::stderr::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_input::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_output::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_stdin::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_stdout::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_stderr::add_to_linker::<State, WasiCli>(l, State::cli)
}

/// The interfaces exist so that programs of every language start. Every address is refused.
fn network(l: &mut Linker<State>) -> Result<()> {
    let options = wasmtime_wasi::p2::bindings::LinkOptions::default();
    sockets::tcp::add_to_linker::<State, WasiSockets>(l, State::sockets)?;
    sockets::udp::add_to_linker::<State, WasiSockets>(l, State::sockets)?;
    sockets::tcp_create_socket::add_to_linker::<State, WasiSockets>(l, State::sockets)?;
    sockets::udp_create_socket::add_to_linker::<State, WasiSockets>(l, State::sockets)?;
    sockets::instance_network::add_to_linker::<State, WasiSockets>(l, State::sockets)?;
    sockets::network::add_to_linker::<State, WasiSockets>(l, &(&options).into(), State::sockets)?;
    sockets::ip_name_lookup::add_to_linker::<State, WasiSockets>(l, State::sockets)
}
