//! Connections: how many, for how long, and with TLS where there is a certificate.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use sixlock_telemetry::network;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

use super::body_deadline::MinimumRate;
use super::connections::{ConnectionLimits, Connections, Permit};
use super::trusted_proxies::TrustedProxies;
use super::write_deadline::WriteDeadline;

/// What a connection may keep in memory of what came: the longest head of a request.
const BUFFER: usize = 32 << 10;
/// How long what a client still sends is read when its request was answered already, and how much of it: if it were
/// not read, the answer would be lost on the way.
const LINGER: Duration = Duration::from_secs(2);
const LONGEST_REST: usize = 4 << 20;

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// How many there may be.
    pub(crate) connections: ConnectionLimits,
    /// How long the head of a request may take to arrive, after the one before it too, and a TLS handshake.
    pub(crate) head: Duration,
    /// How slowly an answer may be read.
    pub(crate) reading: MinimumRate,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: ConnectionLimits::default(),
            head: Duration::from_secs(15),
            reading: MinimumRate::default(),
        }
    }
}

/// What all connections have in common.
#[derive(Clone)]
struct Server {
    tls: Option<TlsAcceptor>,
    router: Router,
    limits: Limits,
    stopping: watch::Receiver<bool>,
}

/// Serves until it is told to stop, and then until all requests under way are answered.
pub(crate) async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    (limits, proxies): (Limits, TrustedProxies),
    mut stopping: watch::Receiver<bool>,
) {
    let open = Connections::new(limits.connections);
    let server = Server { tls, router, limits, stopping: stopping.clone() };
    let mut tasks = JoinSet::new();
    loop {
        let (stream, from) = tokio::select! {
            accepted = accept(&listener, &open) => match accepted {
                Some(accepted) => accepted,
                None => continue,
            },
            Some(_) = tasks.join_next() => continue,
            _ = stopping.wait_for(|stop| *stop) => break,
        };
        let address = (!proxies.include(from.ip())).then(|| network(from.ip()));
        let (place, ended) = open.enter(address);
        let server = server.clone();
        tasks.spawn(async move {
            tokio::select! {
                () = server.connect(stream, from, place) => {}
                _ = ended => {}
            }
        });
    }
    while tasks.join_next().await.is_some() {}
}

/// The next connection, when there is room for one.
async fn accept(listener: &TcpListener, open: &Connections) -> Option<(TcpStream, SocketAddr)> {
    open.room().await;
    match listener.accept().await {
        Ok(accepted) => Some(accepted),
        Err(_) => {
            // A client that is gone already, or as many files are open as may be.
            open.end_one();
            sleep(Duration::from_millis(50)).await;
            None
        }
    }
}

impl Server {
    /// Serves a connection. What goes wrong with it is its client's affair.
    async fn connect(self, stream: TcpStream, from: SocketAddr, place: Permit) {
        let reading = self.limits.reading;
        let watched = |stream| WriteDeadline::new(stream, reading);
        match self.tls.clone() {
            None => self.talk(watched(stream), from, place).await,
            Some(tls) => {
                let accepted = crate::tls::accept(&tls, stream, watched);
                if let Ok(Ok(stream)) = timeout(self.limits.head, accepted).await {
                    self.talk(stream, from, place).await;
                }
            }
        }
    }

    async fn talk(self, stream: impl AsyncRead + AsyncWrite + Unpin, from: SocketAddr, place: Permit) {
        let Self { router, limits, mut stopping, .. } = self;
        let place = Arc::new(place);
        let service = service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(from));
            request.extensions_mut().insert(place.clone());
            let answer = router.clone().oneshot(request);
            Box::pin(async { Ok::<_, Infallible>(answer.await.unwrap_or_else(|never| match never {})) })
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(limits.head).max_buf_size(BUFFER);
        let mut connection = http.serve_connection(TokioIo::new(stream), service);
        let stopped = async {
            let _ = stopping.wait_for(|stop| *stop).await;
        };
        tokio::select! {
            _ = poll_fn(|cx| connection.poll_without_shutdown(cx)) => {
                linger(connection.into_parts().io.into_inner()).await;
                return;
            }
            () = stopped => {}
        }
        Pin::new(&mut connection).graceful_shutdown();
        let _ = connection.await;
    }
}

/// Says that nothing more comes, and reads the rest of what the client sends.
async fn linger(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let rest = async {
        let (mut buffer, mut read) = ([0; 1024], 0);
        stream.shutdown().await?;
        while read < LONGEST_REST {
            match stream.read(&mut buffer).await? {
                0 => break,
                more => read += more,
            }
        }
        std::io::Result::Ok(())
    };
    // Whether the client has heard all is its affair.
    let _ = timeout(LINGER, rest).await;
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::task::JoinHandle;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    async fn start(limits: Limits) -> (SocketAddr, watch::Sender<bool>, JoinHandle<()>) {
        let from = |ConnectInfo(from): ConnectInfo<SocketAddr>| async move { from.to_string() };
        start_with(Router::new().route("/", get(from)), limits).await
    }

    async fn start_with(router: Router, limits: Limits) -> (SocketAddr, watch::Sender<bool>, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopping) = watch::channel(false);
        (
            address,
            stop,
            tokio::spawn(serve(listener, None, router, (limits, TrustedProxies::default()), stopping)),
        )
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
    async fn a_newcomer_takes_the_place_of_a_stranger_that_hangs() {
        let connections = ConnectionLimits { all: 2, strangers: 1, strangers_of_address: 1, of_user: 1 };
        let (address, stop, server) = start(Limits { connections, ..Limits::default() }).await;
        let mut hanging = TcpStream::connect(address).await.unwrap();
        hanging.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n").await.unwrap();
        let mut newcomer = TcpStream::connect(address).await.unwrap();
        let request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        assert!(answer(&mut newcomer, request).await.starts_with("HTTP/1.1 200 OK"));
        let mut rest = Vec::new();
        let ended = timeout(PATIENCE, hanging.read_to_end(&mut rest)).await.unwrap();
        assert!(ended.is_err() || rest.is_empty(), "{rest:?}");
        drop((newcomer, hanging));
        stop.send_replace(true);
        timeout(PATIENCE, server).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn who_never_reads_an_answer_is_hung_up_on() {
        // More than the buffers of both ends hold.
        let router = Router::new().route("/", get(|| async { vec![7; 64 << 20] }));
        let reading = MinimumRate { grace: Duration::from_millis(200), rate: 1 << 30 };
        let (address, stop, server) = start_with(router, Limits { reading, ..Limits::default() }).await;
        let mut silent = TcpStream::connect(address).await.unwrap();
        silent.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
        silent.readable().await.unwrap();
        // The stop waits for what is under way, and so ends only if this is given up.
        stop.send_replace(true);
        timeout(PATIENCE, server).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn an_answer_is_heard_by_one_who_still_sends() {
        let router = Router::new().route("/", axum::routing::post(|| async { "enough" }));
        let (address, stop, server) = start_with(router, Limits::default()).await;
        let mut sender = TcpStream::connect(address).await.unwrap();
        let body = vec![b'x'; 1 << 20];
        let head = format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", body.len());
        sender.write_all(head.as_bytes()).await.unwrap();
        sender.write_all(&body).await.unwrap();
        assert!(answer(&mut sender, "").await.ends_with("enough"));
        stop.send_replace(true);
        timeout(PATIENCE, server).await.unwrap().unwrap();
    }
}
