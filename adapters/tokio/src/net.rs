//! Implements [`Net`] for [`Tokio`]: the HTTP client resolves names and connects with tokio's sockets.

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::Pin;

use mcpwire_driver::http::{ConnectFuture, Net, ResolveFuture, Socket};
use tokio::net::{TcpStream, lookup_host};

use crate::{Compat, Tokio, system};

impl Net for Tokio {
    fn resolve(&self, host: String, port: u16) -> ResolveFuture {
        self.poll_inside(async move { Ok(lookup_host((host, port)).await?.collect()) })
    }

    fn connect_tcp(&self, address: SocketAddr) -> ConnectFuture {
        self.poll_inside(async move {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Ok(Box::pin(Compat(stream)) as Socket)
        })
    }

    fn connect_unix(&self, path: std::path::PathBuf) -> ConnectFuture {
        self.poll_inside(system::connect(path))
    }
}

impl Tokio {
    /// Returns a future that enters this runtime for each poll of `future`. The HTTP client may poll it on a thread without a
    /// runtime.
    fn poll_inside<F: Future + Send + 'static>(&self, future: F) -> Pin<Box<dyn Future<Output = F::Output> + Send>> {
        let (runtime, mut future) = (self.0.clone(), Box::pin(future));
        Box::pin(poll_fn(move |cx| {
            let _entered = runtime.enter();
            future.as_mut().poll(cx)
        }))
    }
}
