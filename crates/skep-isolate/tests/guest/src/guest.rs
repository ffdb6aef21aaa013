//! A component that does what the tests of skep-isolate ask for, by path: good things and bad ones.

mod answers;
mod start;

use std::collections::HashMap;
use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use wasip2::http::types::{
    Fields, IncomingRequest, Method, OutgoingBody, OutgoingRequest, OutgoingResponse, ResponseOutparam, Scheme,
};

struct Guest;

wasip2::http::proxy::export!(Guest);

/// The program that mod_neko's cacheModule was shown with: a static and a local, both counted up.
static STATIC_INT: AtomicU32 = AtomicU32::new(0);

/// Who is logged in, kept where a module cache keeps it.
static USER: Mutex<Option<String>> = Mutex::new(None);

impl wasip2::exports::http::incoming_handler::Guest for Guest {
    fn handle(request: IncomingRequest, outparam: ResponseOutparam) {
        let path = request.path_with_query().unwrap_or_default();
        let (path, query) = path.split_once('?').unwrap_or((&path, ""));
        match path {
            "/" => text(outparam, if cfg!(feature = "second") { "two" } else { "one" }),
            "/first" if cfg!(feature = "second") => answer(outparam, 500, "another"),
            "/first" => text(outparam, "the first"),
            "/refused" => {
                let pages = core::arch::wasm32::memory_grow(0, 60_000);
                text(outparam, if pages == usize::MAX { "refused" } else { "given" });
            }
            "/length" => {
                let headers = Fields::new();
                headers.append("content-length", b"5").unwrap();
                let response = OutgoingResponse::new(headers);
                response.set_status_code(query.parse().unwrap()).unwrap();
                let body = response.body().unwrap();
                ResponseOutparam::set(outparam, Ok(response));
                let _ = OutgoingBody::finish(body, None);
            }
            "/shout" => (0..3000).for_each(|line| println!("shouted {line}")),
            // What number the host has given to the request.
            "/handle" => text(outparam, &request.handle().to_string()),
            "/pages" => text(outparam, &core::arch::wasm32::memory_size(0).to_string()),
            "/grow" => text(outparam, &core::arch::wasm32::memory_grow(0, 10).to_string()),
            "/scribble" => text(outparam, &scribble(query.len()).to_string()),
            "/litter" => {
                // Handles that nobody closes.
                (0..query.parse::<u32>().unwrap()).for_each(|_| std::mem::forget(Fields::new()));
                text(outparam, "littered");
            }
            "/sweep" => text(outparam, &sweep().to_string()),
            "/inits" => text(outparam, &start::INITS.load(Ordering::Relaxed).to_string()),
            "/counts" => text(outparam, &counts()),
            "/login" => {
                *USER.lock().unwrap() = Some(query.to_owned());
                text(outparam, "welcome");
            }
            "/whoami" => text(outparam, USER.lock().unwrap().as_deref().unwrap_or("nobody")),
            "/echo" => echo(&request, outparam),
            "/consume" => answers::consume(&request, outparam),
            "/claims" => answers::claims(query, outparam),
            "/page" => answers::page(query, outparam),
            "/hoard" => answers::hoard(query, outparam),
            "/once" if !answers::is_first() => {}
            "/once" => text(outparam, "once"),
            "/request" => text(outparam, &described(&request)),
            "/table" => text(outparam, &start::look_up(query)),
            "/random" => text(outparam, &random()),
            "/env" => text(outparam, &format!("{:?}", std::env::var(query))),
            "/read" => text(outparam, &std::fs::read_to_string(query).unwrap_or_else(|error| error.to_string())),
            "/write" => text(outparam, &format!("{:?}", std::fs::write(query, "x").map_err(|error| error.kind()))),
            "/print" => {
                println!("printed to standard output");
                eprintln!("printed to standard error");
                text(outparam, "printed");
            }
            "/sleep" => {
                std::thread::sleep(std::time::Duration::from_millis(query.parse().unwrap()));
                text(outparam, "slept");
            }
            "/until" => until(query, outparam),
            "/fetch" => text(outparam, &fetch(query)),
            "/work" => text(outparam, &work(query.parse().unwrap()).to_string()),
            "/stream" => stream(outparam, query.parse().unwrap(), false),
            "/stream-then-trap" => stream(outparam, query.parse().unwrap(), true),
            "/endless" => stream(outparam, u32::MAX, false),
            other => bad(other, outparam),
        }
    }
}

/// Waits for a file.
fn until(path: &str, outparam: ResponseOutparam) {
    while !std::path::Path::new(path).exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    text(outparam, "there");
}

/// What no program should do.
fn bad(path: &str, outparam: ResponseOutparam) {
    match path {
        "/panic" => panic!("as asked"),
        "/unreachable" => core::arch::wasm32::unreachable(),
        "/overflow" => text(outparam, &overflow(1).to_string()),
        "/memory" => {
            let mut hoard = Vec::new();
            loop {
                hoard.push(vec![1u8; 1 << 20]);
            }
        }
        "/loop" => loop {
            std::hint::black_box(0);
        },
        "/exit" => std::process::exit(3),
        "/silent" => {}
        "/unfinished" => {
            let response = OutgoingResponse::new(Fields::new());
            let body = response.body().unwrap();
            ResponseOutparam::set(outparam, Ok(response));
            drop(body);
        }
        "/nofinish" => answers::without_end(outparam),
        "/error" => ResponseOutparam::set(outparam, Err(wasip2::http::types::ErrorCode::InternalError(None))),
        _ => answer(outparam, 404, "not found"),
    }
}

#[allow(unconditional_recursion, reason = "that is what it is for")]
fn overflow(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 64]);
    overflow(depth + 1) + room[3]
}

fn counts() -> String {
    let mut local = 0;
    local += 1;
    format!("static {} local {local}", STATIC_INT.fetch_add(1, Ordering::Relaxed) + 1)
}

/// So much as it finds written where nothing is, and writes there.
fn scribble(value: usize) -> usize {
    static WALL: [AtomicU32; 1 << 18] = [const { AtomicU32::new(0) }; 1 << 18];
    let value = u32::try_from(value).unwrap();
    let mut room = vec![0u8; 100_000];
    std::hint::black_box(&mut room).fill(0xAA);
    WALL.iter().filter(|place| place.swap(value, Ordering::Relaxed) != 0).count()
}

/// So much as it finds written of 3 MiB, and writes all of it.
fn sweep() -> usize {
    static FIELD: [AtomicU32; 3 << 18] = [const { AtomicU32::new(0) }; 3 << 18];
    FIELD.iter().filter(|place| place.swap(1, Ordering::Relaxed) != 0).count()
}

/// The seed of a hash map, and secure random numbers.
fn random() -> String {
    use std::hash::BuildHasher;
    let map: HashMap<u8, u8> = HashMap::new();
    format!("{:x} {:?}", map.hasher().hash_one(0), wasip2::random::random::get_random_bytes(8))
}

fn work(turns: u64) -> u64 {
    (0..turns).fold(1u64, |sum, turn| std::hint::black_box(sum.wrapping_mul(31).wrapping_add(turn)))
}

fn described(request: &IncomingRequest) -> String {
    let headers = request.headers().entries();
    let headers: Vec<String> =
        headers.iter().map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value))).collect();
    format!(
        "{} {:?} {} {}\n{}",
        match request.method() {
            Method::Get => "GET",
            Method::Post => "POST",
            _ => "other",
        },
        request.scheme().map(|scheme| matches!(scheme, Scheme::Https)),
        request.authority().unwrap_or_default(),
        request.path_with_query().unwrap_or_default(),
        headers.join("\n"),
    )
}

fn text(outparam: ResponseOutparam, text: &str) {
    answer(outparam, 200, text);
}

fn answer(outparam: ResponseOutparam, status: u16, text: &str) {
    let headers = Fields::new();
    headers.append("content-type", b"text/plain; charset=utf-8").unwrap();
    let response = OutgoingResponse::new(headers);
    response.set_status_code(status).unwrap();
    let body = response.body().unwrap();
    ResponseOutparam::set(outparam, Ok(response));
    let mut stream = body.write().unwrap();
    for piece in text.as_bytes().chunks(4096) {
        stream.write_all(piece).unwrap();
    }
    drop(stream);
    OutgoingBody::finish(body, None).unwrap();
}

fn echo(request: &IncomingRequest, outparam: ResponseOutparam) {
    let response = OutgoingResponse::new(Fields::new());
    let outgoing = response.body().unwrap();
    ResponseOutparam::set(outparam, Ok(response));
    let incoming = request.consume().unwrap();
    let (input, output) = (incoming.stream().unwrap(), outgoing.write().unwrap());
    while let Ok(bytes) = input.blocking_read(4096) {
        if output.blocking_write_and_flush(&bytes).is_err() {
            break;
        }
    }
    drop((input, output));
    OutgoingBody::finish(outgoing, None).unwrap();
}

/// A body of `kib` KiB, as fast as the client reads.
fn stream(outparam: ResponseOutparam, kib: u32, then_trap: bool) {
    let response = OutgoingResponse::new(Fields::new());
    let body = response.body().unwrap();
    ResponseOutparam::set(outparam, Ok(response));
    let stream = body.write().unwrap();
    let piece = [b'x'; 1024];
    for _ in 0..kib {
        if stream.blocking_write_and_flush(&piece).is_err() {
            return;
        }
    }
    if then_trap {
        core::arch::wasm32::unreachable();
    }
    drop(stream);
    OutgoingBody::finish(body, None).unwrap();
}

fn fetch(authority: &str) -> String {
    let request = OutgoingRequest::new(Fields::new());
    request.set_scheme(Some(&Scheme::Http)).unwrap();
    request.set_authority(Some(authority)).unwrap();
    request.set_path_with_query(Some("/there")).unwrap();
    let future = match wasip2::http::outgoing_handler::handle(request, None) {
        Ok(future) => future,
        Err(code) => return format!("refused: {code:?}"),
    };
    future.subscribe().block();
    match future.get().unwrap().unwrap() {
        Ok(response) => format!("status {}", response.status()),
        Err(code) => format!("failed: {code:?}"),
    }
}
