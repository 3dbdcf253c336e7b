//! `wasi:sockets`: none of them reaches anything.
//!
//! The interfaces are there because the runtimes of other languages import them all, used or not. Whoever
//! makes a socket or looks a name up is refused, and told of the way that has rules. So there never is a
//! socket: the types have no values, and whatever would be done with one is unreachable.

use wasmtime::component::{HasSelf, Linker, Resource};

use crate::bindings::wasi::sockets::network::{
    ErrorCode, IpAddress, IpAddressFamily, IpSocketAddress, LinkOptions,
};
use crate::bindings::wasi::sockets::{
    instance_network, ip_name_lookup, network, tcp, tcp_create_socket, udp, udp_create_socket,
};
use crate::guest::Guest;
use crate::wasi::io::{InputStream, IoError, OutputStream, Pollable};

/// Adds it to the linker.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    let options = LinkOptions::default();
    network::add_to_linker::<Guest, HasSelf<Guest>>(linker, &options, |guest| guest)?;
    instance_network::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    ip_name_lookup::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    tcp::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    tcp_create_socket::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    udp::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    udp_create_socket::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}

/// The network of a guest. To have it is to have nothing: it only stands beside an address.
#[derive(Debug)]
pub struct WasiNetwork;

/// The addresses of a name.
#[derive(Debug)]
pub enum ResolveAddressStream {}

/// A TCP socket.
#[derive(Debug)]
pub enum TcpSocket {}

/// A UDP socket.
#[derive(Debug)]
pub enum UdpSocket {}

/// What comes to a UDP socket.
#[derive(Debug)]
pub enum IncomingDatagramStream {}

/// What goes from a UDP socket.
#[derive(Debug)]
pub enum OutgoingDatagramStream {}

impl network::Host for Guest {
    fn network_error_code(
        &mut self,
        _error: Resource<IoError>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        Ok(None)
    }
}

impl network::HostNetwork for Guest {
    fn drop(&mut self, network: Resource<WasiNetwork>) -> wasmtime::Result<()> {
        self.table.delete(network)?;
        Ok(())
    }
}

impl instance_network::Host for Guest {
    fn instance_network(&mut self) -> wasmtime::Result<Resource<WasiNetwork>> {
        self.hold(WasiNetwork)
    }
}

impl ip_name_lookup::Host for Guest {
    fn resolve_addresses(
        &mut self,
        _network: Resource<WasiNetwork>,
        name: String,
    ) -> wasmtime::Result<Result<Resource<ResolveAddressStream>, ErrorCode>> {
        let broker = &self.door.plan().broker;
        broker.refuse_socket("resolve", &name);
        Ok(Err(ErrorCode::AccessDenied))
    }
}

impl tcp_create_socket::Host for Guest {
    fn create_tcp_socket(
        &mut self,
        _family: IpAddressFamily,
    ) -> wasmtime::Result<Result<Resource<TcpSocket>, ErrorCode>> {
        let broker = &self.door.plan().broker;
        broker.refuse_socket("open", "a TCP socket");
        Ok(Err(ErrorCode::AccessDenied))
    }
}

impl udp_create_socket::Host for Guest {
    fn create_udp_socket(
        &mut self,
        _family: IpAddressFamily,
    ) -> wasmtime::Result<Result<Resource<UdpSocket>, ErrorCode>> {
        let broker = &self.door.plan().broker;
        broker.refuse_socket("open", "a UDP socket");
        Ok(Err(ErrorCode::AccessDenied))
    }
}

/// Methods of something that never is: looking it up fails, and there is no other way on.
macro_rules! never {
    ($trait:path, $type:ty { $($method:ident($($argument:ty),*) -> $result:ty;)* }) => {
        impl $trait for Guest {
            $(fn $method(
                &mut self,
                never: Resource<$type>
                $(, _: $argument)*
            ) -> wasmtime::Result<$result> {
                match *self.table.get(&never)? {}
            })*

            fn drop(&mut self, never: Resource<$type>) -> wasmtime::Result<()> {
                match self.table.delete(never)? {}
            }
        }
    };
}

impl tcp::Host for Guest {}

impl udp::Host for Guest {}

never!(ip_name_lookup::HostResolveAddressStream, ResolveAddressStream {
    resolve_next_address() -> Result<Option<IpAddress>, ErrorCode>;
    subscribe() -> Resource<Pollable>;
});

never!(tcp::HostTcpSocket, TcpSocket {
    start_bind(Resource<WasiNetwork>, IpSocketAddress) -> Result<(), ErrorCode>;
    finish_bind() -> Result<(), ErrorCode>;
    start_connect(Resource<WasiNetwork>, IpSocketAddress) -> Result<(), ErrorCode>;
    finish_connect() -> Result<(Resource<InputStream>, Resource<OutputStream>), ErrorCode>;
    start_listen() -> Result<(), ErrorCode>;
    finish_listen() -> Result<(), ErrorCode>;
    accept() -> Result<
        (Resource<TcpSocket>, Resource<InputStream>, Resource<OutputStream>),
        ErrorCode,
    >;
    local_address() -> Result<IpSocketAddress, ErrorCode>;
    remote_address() -> Result<IpSocketAddress, ErrorCode>;
    is_listening() -> bool;
    address_family() -> IpAddressFamily;
    set_listen_backlog_size(u64) -> Result<(), ErrorCode>;
    keep_alive_enabled() -> Result<bool, ErrorCode>;
    set_keep_alive_enabled(bool) -> Result<(), ErrorCode>;
    keep_alive_idle_time() -> Result<u64, ErrorCode>;
    set_keep_alive_idle_time(u64) -> Result<(), ErrorCode>;
    keep_alive_interval() -> Result<u64, ErrorCode>;
    set_keep_alive_interval(u64) -> Result<(), ErrorCode>;
    keep_alive_count() -> Result<u32, ErrorCode>;
    set_keep_alive_count(u32) -> Result<(), ErrorCode>;
    hop_limit() -> Result<u8, ErrorCode>;
    set_hop_limit(u8) -> Result<(), ErrorCode>;
    receive_buffer_size() -> Result<u64, ErrorCode>;
    set_receive_buffer_size(u64) -> Result<(), ErrorCode>;
    send_buffer_size() -> Result<u64, ErrorCode>;
    set_send_buffer_size(u64) -> Result<(), ErrorCode>;
    subscribe() -> Resource<Pollable>;
    shutdown(tcp::ShutdownType) -> Result<(), ErrorCode>;
});

never!(udp::HostUdpSocket, UdpSocket {
    start_bind(Resource<WasiNetwork>, IpSocketAddress) -> Result<(), ErrorCode>;
    finish_bind() -> Result<(), ErrorCode>;
    stream(Option<IpSocketAddress>) -> Result<(Resource<IncomingDatagramStream>, Resource<OutgoingDatagramStream>), ErrorCode>;
    local_address() -> Result<IpSocketAddress, ErrorCode>;
    remote_address() -> Result<IpSocketAddress, ErrorCode>;
    address_family() -> IpAddressFamily;
    unicast_hop_limit() -> Result<u8, ErrorCode>;
    set_unicast_hop_limit(u8) -> Result<(), ErrorCode>;
    receive_buffer_size() -> Result<u64, ErrorCode>;
    set_receive_buffer_size(u64) -> Result<(), ErrorCode>;
    send_buffer_size() -> Result<u64, ErrorCode>;
    set_send_buffer_size(u64) -> Result<(), ErrorCode>;
    subscribe() -> Resource<Pollable>;
});

never!(udp::HostIncomingDatagramStream, IncomingDatagramStream {
    receive(u64) -> Result<Vec<udp::IncomingDatagram>, ErrorCode>;
    subscribe() -> Resource<Pollable>;
});

never!(udp::HostOutgoingDatagramStream, OutgoingDatagramStream {
    check_send() -> Result<u64, ErrorCode>;
    send(Vec<udp::OutgoingDatagram>) -> Result<u64, ErrorCode>;
    subscribe() -> Resource<Pollable>;
});
