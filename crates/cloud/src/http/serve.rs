//! Connections: how many, for how long, and with TLS where there is a certificate.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

use crate::tls::accept;

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Connections at the same time; beyond, new ones wait in the system's queue.
    pub(crate) connections: usize,
    /// How long the head of a request may take to arrive, after the one before it too, and a TLS handshake.
    pub(crate) head: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 1024, head: Duration::from_secs(15) }
    }
}

/// Serves until it is told to stop, and then until all requests under way are answered.
pub(crate) async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    limits: Limits,
    mut stopping: watch::Receiver<bool>,
) {
    let free = Arc::new(Semaphore::new(limits.connections));
    let mut connections = JoinSet::new();
    loop {
        let accepted = async {
            let place = free.clone().acquire_owned().await.ok()?;
            match listener.accept().await {
                Ok((stream, from)) => Some((place, stream, from)),
                Err(_) => {
                    // What is wrong may pass: no more files, or a client that is gone already.
                    sleep(Duration::from_millis(50)).await;
                    None
                }
            }
        };
        let (place, stream, from) = tokio::select! {
            accepted = accepted => match accepted {
                Some(accepted) => accepted,
                None => continue,
            },
            Some(_) = connections.join_next() => continue,
            _ = stopping.wait_for(|stop| *stop) => break,
        };
        let (tls, router, stopping) = (tls.clone(), router.clone(), stopping.clone());
        connections.spawn(async move {
            let _place = place;
            connect(stream, from, tls, router, limits, stopping).await;
        });
    }
    while connections.join_next().await.is_some() {}
}

/// Serves a connection. What goes wrong with it is its client's affair.
async fn connect(
    stream: TcpStream,
    from: SocketAddr,
    tls: Option<TlsAcceptor>,
    router: Router,
    limits: Limits,
    stopping: watch::Receiver<bool>,
) {
    match tls {
        None => talk(stream, from, router, limits, stopping).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(limits.head, accept(&tls, stream)).await {
                talk(stream, from, router, limits, stopping).await;
            }
        }
    }
}

async fn talk(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    from: SocketAddr,
    router: Router,
    limits: Limits,
    mut stopping: watch::Receiver<bool>,
) {
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(from));
        let router = router.clone();
        async move { Ok::<_, Infallible>(router.oneshot(request).await.unwrap_or_else(|never| match never {})) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    let stopped = async {
        let _ = stopping.wait_for(|stop| *stop).await;
    };
    tokio::select! {
        _ = connection.as_mut() => return,
        () = stopped => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::task::JoinHandle;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    async fn start(limits: Limits) -> (SocketAddr, watch::Sender<bool>, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopping) = watch::channel(false);
        let from = |ConnectInfo(from): ConnectInfo<SocketAddr>| async move { from.to_string() };
        let router = Router::new().route("/", get(from));
        (address, stop, tokio::spawn(serve(listener, None, router, limits, stopping)))
    }

    async fn answer(stream: &mut TcpStream, request: &str) -> String {
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        timeout(PATIENCE, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
        answer
    }

    #[tokio::test]
    async fn who_does_not_finish_a_head_is_hung_up_on_and_who_does_is_served() {
        let limits = Limits { head: Duration::from_millis(200), ..Limits::default() };
        let (address, stop, server) = start(limits).await;
        for head in ["", "GET / HTTP/1.1\r\nHost: a\r\n"] {
            let mut slow = TcpStream::connect(address).await.unwrap();
            let answer = answer(&mut slow, head).await;
            assert!(!answer.contains("200 OK"), "{answer}");
        }
        let mut stream = TcpStream::connect(address).await.unwrap();
        let own = stream.local_addr().unwrap().to_string();
        let answer = answer(&mut stream, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with(&own), "{answer}");
        stop.send_replace(true);
        timeout(PATIENCE, server).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn beyond_the_limit_connections_wait_until_others_end() {
        let limits = Limits { connections: 1, ..Limits::default() };
        let (address, stop, server) = start(limits).await;
        let mut first = TcpStream::connect(address).await.unwrap();
        first.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
        let mut byte = [0];
        timeout(PATIENCE, first.read_exact(&mut byte)).await.unwrap().unwrap();
        let mut second = TcpStream::connect(address).await.unwrap();
        second.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await.unwrap();
        // Nothing can come while the first one holds its place, however long this waits.
        assert!(timeout(Duration::from_millis(200), second.read_exact(&mut byte)).await.is_err());
        drop(first);
        timeout(PATIENCE, second.read_exact(&mut byte)).await.unwrap().unwrap();
        drop(second);
        stop.send_replace(true);
        timeout(PATIENCE, server).await.unwrap().unwrap();
    }
}
