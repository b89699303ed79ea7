//! Sockets of tokio, for HTTP.

use std::future::{Future, poll_fn};
use std::io;

use mcpwire_driver::http::{ConnectFuture, Net, Socket};
use tokio::net::TcpStream;

use crate::{Compat, Tokio};

impl Net for Tokio {
    fn connect_tcp(&self, host: String, port: u16) -> ConnectFuture {
        self.poll_inside(async move {
            let stream = TcpStream::connect((host, port)).await?;
            stream.set_nodelay(true)?;
            Ok(Box::pin(Compat(stream)) as Socket)
        })
    }

    #[cfg(unix)]
    fn connect_unix(&self, path: std::path::PathBuf) -> ConnectFuture {
        self.poll_inside(async { Ok(Box::pin(Compat(tokio::net::UnixStream::connect(path).await?)) as Socket) })
    }
}

impl Tokio {
    /// Enters this runtime for each poll of the future, because HTTP connections may be opened on threads without a runtime.
    fn poll_inside(&self, connecting: impl Future<Output = io::Result<Socket>> + Send + 'static) -> ConnectFuture {
        let (runtime, mut connecting) = (self.clone(), Box::pin(connecting));
        Box::pin(poll_fn(move |cx| {
            let _entered = runtime.enter();
            connecting.as_mut().poll(cx)
        }))
    }
}
