//! Implements [`Net`] for [`Smol`]: the HTTP client resolves names and connects with async-io's sockets.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};

use async_io::Async;
use mcpwire_driver::http::{ConnectFuture, Net, ResolveFuture, Socket};

use crate::executor::start_reactor;
use crate::{Smol, system};

impl Net for Smol {
    fn resolve(&self, host: String, port: u16) -> ResolveFuture {
        // This runs on another thread, because the system's resolver blocks.
        Box::pin(blocking::unblock(move || Ok((host, port).to_socket_addrs()?.collect())))
    }

    fn connect_tcp(&self, address: SocketAddr) -> ConnectFuture {
        Box::pin(async move {
            start_reactor()?;
            let stream = Async::<TcpStream>::connect(address).await?;
            stream.get_ref().set_nodelay(true)?;
            Ok(Box::pin(stream) as Socket)
        })
    }

    fn connect_unix(&self, path: std::path::PathBuf) -> ConnectFuture {
        Box::pin(system::connect(path))
    }
}
