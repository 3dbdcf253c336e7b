//! Traits and types made of the interface files, and nothing else.
//!
//! Every host function returns a `wasmtime::Result`: an error ends the guest. What a guest should get to
//! know of is inside the `Ok`.

wasmtime::component::bindgen!({
    inline: "
        package jig:wasm;

        world guest {
            include jp:tool/tool@0.1.0;

            import wasi:io/poll@0.2.12;
            import wasi:io/error@0.2.12;
            import wasi:io/streams@0.2.12;
            import wasi:clocks/monotonic-clock@0.2.12;
            import wasi:clocks/wall-clock@0.2.12;
            import wasi:random/random@0.2.12;
            import wasi:random/insecure@0.2.12;
            import wasi:random/insecure-seed@0.2.12;
            import wasi:cli/environment@0.2.12;
            import wasi:cli/exit@0.2.12;
            import wasi:cli/stdin@0.2.12;
            import wasi:cli/stdout@0.2.12;
            import wasi:cli/stderr@0.2.12;
            import wasi:cli/terminal-input@0.2.12;
            import wasi:cli/terminal-output@0.2.12;
            import wasi:cli/terminal-stdin@0.2.12;
            import wasi:cli/terminal-stdout@0.2.12;
            import wasi:cli/terminal-stderr@0.2.12;
            import wasi:filesystem/types@0.2.12;
            import wasi:filesystem/preopens@0.2.12;
            import wasi:sockets/network@0.2.12;
            import wasi:sockets/instance-network@0.2.12;
            import wasi:sockets/ip-name-lookup@0.2.12;
            import wasi:sockets/tcp@0.2.12;
            import wasi:sockets/tcp-create-socket@0.2.12;
            import wasi:sockets/udp@0.2.12;
            import wasi:sockets/udp-create-socket@0.2.12;
            import wasi:http/types@0.2.12;
            import wasi:http/outgoing-handler@0.2.12;

            import jp:host/filesystem@0.1.0;
            import jp:host/http@0.1.0;
            import jp:host/process@0.1.0;
            import jig:tool/vfs@0.1.0;
        }

        world described {
            export jig:tool/describe@0.1.0;
        }
    ",
    path: [
        "wit/io", "wit/clocks", "wit/random", "wit/filesystem", "wit/sockets", "wit/cli", "wit/http",
        "../jig-proto/wit/jp-tool", "../jig-proto/wit/jp-host", "../jig-proto/wit/jig-tool",
    ],
    world: "jig:wasm/guest",
    imports: { default: trappable },
    with: {
        "wasi:io/poll.pollable": crate::wasi::io::Pollable,
        "wasi:io/error.error": crate::wasi::io::IoError,
        "wasi:io/streams.input-stream": crate::wasi::io::InputStream,
        "wasi:io/streams.output-stream": crate::wasi::io::OutputStream,
        "wasi:cli/terminal-input.terminal-input": crate::wasi::cli::TerminalInput,
        "wasi:cli/terminal-output.terminal-output": crate::wasi::cli::TerminalOutput,
        "wasi:filesystem/types.descriptor": crate::wasi::filesystem::Descriptor,
        "wasi:filesystem/types.directory-entry-stream": crate::wasi::filesystem::Entries,
        "wasi:sockets/network.network": crate::wasi::sockets::WasiNetwork,
        "wasi:sockets/ip-name-lookup.resolve-address-stream": crate::wasi::sockets::ResolveAddressStream,
        "wasi:sockets/tcp.tcp-socket": crate::wasi::sockets::TcpSocket,
        "wasi:sockets/udp.udp-socket": crate::wasi::sockets::UdpSocket,
        "wasi:sockets/udp.incoming-datagram-stream": crate::wasi::sockets::IncomingDatagramStream,
        "wasi:sockets/udp.outgoing-datagram-stream": crate::wasi::sockets::OutgoingDatagramStream,
        "wasi:http/types.fields": crate::wasi::http::Fields,
        "wasi:http/types.incoming-request": crate::wasi::http::IncomingRequest,
        "wasi:http/types.outgoing-request": crate::wasi::http::OutgoingRequest,
        "wasi:http/types.request-options": crate::wasi::http::RequestOptions,
        "wasi:http/types.response-outparam": crate::wasi::http::ResponseOutparam,
        "wasi:http/types.incoming-response": crate::wasi::http::IncomingResponse,
        "wasi:http/types.incoming-body": crate::wasi::http::IncomingBody,
        "wasi:http/types.future-trailers": crate::wasi::http::FutureTrailers,
        "wasi:http/types.outgoing-response": crate::wasi::http::OutgoingResponse,
        "wasi:http/types.outgoing-body": crate::wasi::http::OutgoingBody,
        "wasi:http/types.future-incoming-response": crate::wasi::http::FutureResponse,
    },
});
