//! A component of WASI 0.3 that does what the tests of skep-isolate ask for, by path: good things and bad ones.

mod bad;
mod start;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use wasip3::clocks::monotonic_clock::wait_for;
use wasip3::http::client;
use wasip3::http::types::{ErrorCode, Fields, Method, Request, Response, Scheme};
use wasip3::wit_bindgen::StreamResult;
use wasip3::wit_bindgen::rt::async_support::{FutureReader, StreamReader, StreamWriter};
use wasip3::{spawn_local, wit_future, wit_stream};

struct Guest;

wasip3::http::service::export!(Guest);

type Answer = Result<Response, ErrorCode>;

/// The program that mod_neko's cacheModule was shown with: a static and a local, both counted up.
static STATIC_INT: AtomicU32 = AtomicU32::new(0);

/// Who is logged in, kept where a module cache keeps it.
static USER: Mutex<Option<String>> = Mutex::new(None);

/// Requests that are at work in this instance, and the most that ever were.
static AT_WORK: AtomicU32 = AtomicU32::new(0);
static MOST: AtomicU32 = AtomicU32::new(0);

const MILLISECOND: u64 = 1_000_000;

impl wasip3::exports::http::handler::Guest for Guest {
    async fn handle(request: Request) -> Answer {
        let now = AT_WORK.fetch_add(1, Ordering::Relaxed) + 1;
        MOST.fetch_max(now, Ordering::Relaxed);
        let answer = handle(request).await;
        AT_WORK.fetch_sub(1, Ordering::Relaxed);
        answer
    }
}

async fn handle(request: Request) -> Answer {
    let path = request.get_path_with_query().unwrap_or_default();
    let (path, query) = path.split_once('?').unwrap_or((&path, ""));
    match path {
        "/" => text("third"),
        "/counts" => {
            let mut local = 0;
            local += 1;
            text(&format!("static {} local {local}", STATIC_INT.fetch_add(1, Ordering::Relaxed) + 1))
        }
        "/login" => {
            *USER.lock().unwrap() = Some(query.to_owned());
            text("welcome")
        }
        "/whoami" => text(USER.lock().unwrap().as_deref().unwrap_or("nobody")),
        "/request" => text(&described(&request)),
        "/env" => text(&format!("{:?}", std::env::var(query))),
        "/print" => {
            println!("printed to standard output");
            text("printed")
        }
        "/random" => text(&format!("{:?}", wasip3::random::random::get_random_bytes(8))),
        "/table" => text(&start::look_up(query)),
        "/sleep" => {
            wait_for(query.parse::<u64>().unwrap() * MILLISECOND).await;
            text("slept")
        }
        // It waits in a way of 0.2, which gives way to nobody.
        "/block" => {
            std::thread::sleep(std::time::Duration::from_millis(query.parse().unwrap()));
            text("slept")
        }
        "/most" => text(&MOST.load(Ordering::Relaxed).to_string()),
        "/after" => after(query.parse().unwrap()),
        "/told" => told(),
        "/echo" => echo(request),
        "/pass" => pass(request),
        "/stream" => stream(query.parse().unwrap(), false),
        "/stream-then-trap" => stream(query.parse().unwrap(), true),
        "/endless" => stream(u32::MAX, false),
        "/fetch" => text(&fetch(query).await),
        "/proxy" => client::send(to(query)).await,
        other => bad::answer(other, query).await,
    }
}

fn text(text: &str) -> Answer {
    answer(200, text)
}

fn answer(status: u16, text: &str) -> Answer {
    let (mut body, response) = begun(status, &[("content-type", "text/plain; charset=utf-8")]);
    let text = text.as_bytes().to_vec();
    spawn_local(async move { drop(body.write_all(text).await) });
    Ok(response)
}

/// An answer, and where its body is written.
fn begun(status: u16, fields: &[(&str, &str)]) -> (StreamWriter<u8>, Response) {
    let (body, contents) = wit_stream::new();
    (body, of(status, fields, contents))
}

fn of(status: u16, fields: &[(&str, &str)], contents: StreamReader<u8>) -> Response {
    let headers = Fields::new();
    for (name, value) in fields {
        headers.append(name, value.as_bytes()).unwrap();
    }
    let (response, _) = Response::new(headers, Some(contents), no_trailers());
    response.set_status_code(status).unwrap();
    response
}

fn no_trailers() -> FutureReader<Result<Option<Fields>, ErrorCode>> {
    wit_future::new(|| Ok(None)).1
}

fn well() -> FutureReader<Result<(), ErrorCode>> {
    wit_future::new(|| Ok(())).1
}

fn described(request: &Request) -> String {
    let headers = request.get_headers().copy_all();
    let headers: Vec<String> =
        headers.iter().map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value))).collect();
    format!(
        "{} {:?} {} {}\n{}",
        match request.get_method() {
            Method::Get => "GET",
            Method::Post => "POST",
            _ => "other",
        },
        request.get_scheme().map(|scheme| matches!(scheme, Scheme::Https)),
        request.get_authority().unwrap_or_default(),
        request.get_path_with_query().unwrap_or_default(),
        headers.join("\n"),
    )
}

/// Runs for this many milliseconds after the response is complete.
fn after(milliseconds: u64) -> Answer {
    spawn_local(async move {
        wait_for(milliseconds * MILLISECOND).await;
        STATIC_INT.store(1000, Ordering::Relaxed);
        println!("went on");
    });
    text("first")
}

/// Logs whether its response was sent.
fn told() -> Answer {
    let (mut body, contents) = wit_stream::new();
    let (response, sent) = Response::new(Fields::new(), Some(contents), no_trailers());
    spawn_local(async move {
        drop(body.write_all(b"told".to_vec()).await);
        drop(body);
        println!("the answer was sent: {:?}", sent.await);
    });
    Ok(response)
}

/// Reads the body of the request, and writes it.
fn echo(request: Request) -> Answer {
    let (mut contents, _) = Request::consume_body(request, well());
    let (mut body, response) = begun(200, &[]);
    spawn_local(async move {
        loop {
            let (result, bytes) = contents.read(Vec::with_capacity(16 << 10)).await;
            if !matches!(result, StreamResult::Complete(_)) || !body.write_all(bytes).await.is_empty() {
                return;
            }
        }
    });
    Ok(response)
}

/// The body of the request is the body of the answer, and passes by.
fn pass(request: Request) -> Answer {
    let (contents, _) = Request::consume_body(request, well());
    Ok(of(200, &[], contents))
}

/// A body of `kib` KiB, as fast as the client reads.
fn stream(kib: u32, then_trap: bool) -> Answer {
    let (mut body, response) = begun(200, &[]);
    spawn_local(async move {
        for _ in 0..kib {
            if !body.write_all(vec![b'x'; 1024]).await.is_empty() {
                return;
            }
        }
        if then_trap {
            core::arch::wasm32::unreachable();
        }
    });
    Ok(response)
}

/// A request to another server.
fn to(authority: &str) -> Request {
    let (request, _) = Request::new(Fields::new(), None, no_trailers(), None);
    request.set_scheme(Some(&Scheme::Http)).unwrap();
    request.set_authority(Some(authority)).unwrap();
    request.set_path_with_query(Some("/there")).unwrap();
    request
}

async fn fetch(authority: &str) -> String {
    match client::send(to(authority)).await {
        Ok(response) => format!("status {}", response.get_status_code()),
        Err(code) => format!("failed: {code:?}"),
    }
}
