//! The application: `cargo run -p axum-html`, then <http://127.0.0.1:3000>.

use std::error::Error;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    Ok(axum::serve(listener, axum_html::router()).await?)
}
