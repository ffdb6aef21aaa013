//! What a component may import: WASI 0.2, the services of Skep, and on its own engine WASI 0.3.
//!
//! Most requests use no clock, no environment and no random number. So the state of WASI's interfaces is made when one
//! of them is first called (`StoreData::ctx`); streams and HTTP, which every request uses, need none of it.

use wasmtime::Result;
use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::clocks::WasiClocks;
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView};
use wasmtime_wasi::p2::bindings::{LinkOptions, cli, clocks, filesystem, io, random, sockets};
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::sockets::{WasiSockets, WasiSocketsView};
use wasmtime_wasi_http::p2::add_only_http_to_linker_async;

use crate::state::StoreData;
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

/// Errors of streams.
struct Errors;

impl HasData for Errors {
    type Data<'a> = ErrorView<'a>;
}

struct ErrorView<'a>(&'a mut ResourceTable);

impl io::error::Host for ErrorView<'_> {}

impl io::error::HostError for ErrorView<'_> {
    /// What went wrong, but not where in the host: with `RUST_BACKTRACE` set, the usual format has a backtrace.
    fn to_debug_string(&mut self, error: Resource<io::error::Error>) -> Result<String> {
        Ok(format!("{:#}", self.0.get(&error)?))
    }

    fn drop(&mut self, error: Resource<io::error::Error>) -> Result<()> {
        self.0.delete(error)?;
        Ok(())
    }
}

/// Adds interfaces of a package, whose state `$state` gives.
macro_rules! add {
    ($linker:ident, $package:ident { $($interface:ident),+ }, $kind:ty, $state:expr) => {
        $($package::$interface::add_to_linker::<StoreData, $kind>($linker, $state)?;)+
    };
}

pub(super) fn fill(l: &mut Linker<StoreData>) -> Result<()> {
    add!(l, io { poll, streams }, Table, StoreData::table);
    io::error::add_to_linker::<StoreData, Errors>(l, |state| ErrorView(state.table()))?;
    add_only_http_to_linker_async(l)?;
    add!(l, clocks { wall_clock, monotonic_clock }, WasiClocks, StoreData::clocks);
    add!(l, random { random, insecure, insecure_seed }, WasiRandom, |state| state.wasi().random());
    add!(l, filesystem { preopens, types }, WasiFilesystem, StoreData::filesystem);
    add!(l, cli { exit, environment, stdin, stdout, stderr }, WasiCli, StoreData::cli);
    add!(l, cli { terminal_input, terminal_output }, WasiCli, StoreData::cli);
    add!(l, cli { terminal_stdin, terminal_stdout, terminal_stderr }, WasiCli, StoreData::cli);
    // These exist so that programs of every language start. Every address is refused.
    add!(l, sockets { tcp, udp, tcp_create_socket, udp_create_socket }, WasiSockets, StoreData::sockets);
    add!(l, sockets { instance_network, ip_name_lookup }, WasiSockets, StoreData::sockets);
    let options = LinkOptions::default();
    sockets::network::add_to_linker::<StoreData, WasiSockets>(l, &(&options).into(), StoreData::sockets)?;
    crate::services::add_to_linker(l)
}

/// WASI 0.3, whose functions run concurrently.
#[cfg(feature = "wasi03")]
pub(super) fn fill_wasi03(l: &mut Linker<StoreData>) -> Result<()> {
    wasmtime_wasi::p3::add_to_linker(l)?;
    wasmtime_wasi_http::p3::add_to_linker(l)
}
