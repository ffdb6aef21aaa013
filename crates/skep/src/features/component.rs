//! The application as a WebAssembly component: the same handlers, links, forms and pages, in an instance that a host
//! makes for a request.
//!
//! ```ignore
//! skep::component!(app());
//! ```
//!
//! With this line in its library, an application builds as a component of `wasi:http`:
//!
//! ```sh
//! cargo rustc --lib --crate-type cdylib --release --target wasm32-wasip2
//! ```
//!
//! Built for another target, the line does nothing. What is different in a component, `docs/guides/run/component.md`
//! says; what it and its host say to each other stands in `wit/skep.wit`.
//!
//! Start reading at `component/instance.rs`: what an instance does.

#[cfg(target_family = "wasm")]
mod handler;
#[cfg(target_family = "wasm")]
mod http;
#[cfg(target_family = "wasm")]
mod instance;
#[cfg(target_family = "wasm")]
mod settings;
#[cfg(target_family = "wasm")]
mod sys;

#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub use {
    self::http::handle,
    crate::host::component::{bindings, functions::Host},
    instance::{Application, failed, handle_direct, init, job_names, more, run_job},
    wasip2 as __wasip2,
};

/// Makes the application a component, where it is built for WebAssembly: the library's `component!(app())`.
///
/// ```
/// use skep::prelude::*;
///
/// #[derive(Service)]
/// #[service(GET "/")]
/// struct Index;
///
/// impl Handle for Index {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result {
///         Ok(Response::text("Hello, world!"))
///     }
/// }
///
/// pub fn app() -> App {
///     App::new().serve(services![Index])
/// }
///
/// skep::component!(app());
/// ```
///
/// `component!(app(), plain)` makes one that asks nothing of its host but what every host of `wasi:http` has. It runs
/// anywhere, and has no sessions, no keys for sealed texts (flash messages, tokens of forms), and no cache that
/// outlives a request. An application with a database imports `skep:host/sql` all the same.
#[cfg(not(target_family = "wasm"))]
#[macro_export]
macro_rules! component {
    ($app:expr $(, plain)?) => {
        const _: fn() -> $crate::App = || $app;
    };
}

/// Makes the application a component: `component!(app())`, or `component!(app(), plain)` for hosts that are not Skep.
/// The documentation of a native build has an example.
#[cfg(target_family = "wasm")]
#[macro_export]
macro_rules! component {
    ($app:expr) => {
        $crate::component!(@ $app, $crate::component::Host::SKEP);
    };
    ($app:expr, plain) => {
        $crate::component!(@ $app, $crate::component::Host::NONE);
    };
    (@ $app:expr, $host:expr) => {
        #[doc(hidden)]
        struct __SkepComponent;

        impl $crate::component::Application for __SkepComponent {
            const HOST: &'static $crate::component::Host = $host;

            fn app() -> $crate::App {
                $app
            }
        }

        impl $crate::component::__wasip2::exports::http::incoming_handler::Guest for __SkepComponent {
            fn handle(
                request: $crate::component::__wasip2::http::types::IncomingRequest,
                answer: $crate::component::__wasip2::http::types::ResponseOutparam,
            ) {
                $crate::component::handle::<__SkepComponent>(request, answer);
            }
        }

        impl $crate::component::bindings::application::Guest for __SkepComponent {
            fn init() -> ::core::result::Result<(), ::std::string::String> {
                $crate::component::init::<__SkepComponent>()
            }
        }

        impl $crate::component::bindings::application::exports::skep::host::handler::Guest for __SkepComponent {
            fn handle(request: ::std::vec::Vec<u8>) -> ::std::vec::Vec<u8> {
                $crate::component::handle_direct::<__SkepComponent>(request)
            }

            fn failed(request: ::std::vec::Vec<u8>, status: u16, why: ::std::string::String) -> ::std::vec::Vec<u8> {
                $crate::component::failed::<__SkepComponent>(request, status, why)
            }

            fn more() -> ::core::result::Result<::core::option::Option<::std::vec::Vec<u8>>, ::std::string::String> {
                $crate::component::more()
            }
        }

        impl $crate::component::bindings::application::exports::skep::host::jobs::Guest for __SkepComponent {
            fn names() -> ::std::vec::Vec<(::std::string::String, u64)> {
                $crate::component::job_names::<__SkepComponent>()
            }

            fn run(job: u32) {
                $crate::component::run_job::<__SkepComponent>(job);
            }
        }

        $crate::component::__wasip2::http::proxy::export!(
            __SkepComponent with_types_in $crate::component::__wasip2
        );
        $crate::component::bindings::application::export!(
            __SkepComponent with_types_in $crate::component::bindings::application
        );
    };
}
