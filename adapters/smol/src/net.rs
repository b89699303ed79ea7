//! Sockets of async-io, for HTTP.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};

use async_io::Async;
use mcpwire_driver::http::{ConnectFuture, Net, Socket};

use crate::Smol;

impl Net for Smol {
    fn connect_tcp(&self, host: String, port: u16) -> ConnectFuture {
        Box::pin(async move {
            // Resolved on another thread, because the system's resolver blocks.
            let addresses = blocking::unblock(move || (host, port).to_socket_addrs()).await?;
            let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
            for address in addresses {
                match Async::<TcpStream>::connect(address).await {
                    Ok(stream) => {
                        stream.get_ref().set_nodelay(true)?;
                        return Ok(Box::pin(stream) as Socket);
                    }
                    Err(error) => last = error,
                }
            }
            Err(last)
        })
    }

    #[cfg(unix)]
    fn connect_unix(&self, path: std::path::PathBuf) -> ConnectFuture {
        use std::os::unix::net::UnixStream;

        Box::pin(async move { Ok(Box::pin(Async::<UnixStream>::connect(path).await?) as Socket) })
    }
}
