//! Rust of the interface files, and nothing else.

#![expect(missing_docs, reason = "written by `wit-bindgen`")]

/// A tool that reaches its host by messages.
pub mod sdk {
    wit_bindgen::generate!({
        path: ["../jig-proto/wit/jp-tool", "../jig-proto/wit/jp-host", "../jig-proto/wit/jig-tool"],
        world: "jig:tool/sdk",
        generate_all,
        pub_export_macro: true,
        export_macro_name: "__export_tool",
        default_bindings_module: "jig_tool::wasm::sdk",
    });
}

/// A tool that describes itself.
pub mod describing {
    wit_bindgen::generate!({
        inline: "
            package jig:sdk;

            world describing {
                export jig:tool/describe@0.1.0;
            }
        ",
        path: ["../jig-proto/wit/jp-tool", "../jig-proto/wit/jp-host", "../jig-proto/wit/jig-tool"],
        world: "jig:sdk/describing",
        generate_all,
        pub_export_macro: true,
        export_macro_name: "__export_description",
        default_bindings_module: "jig_tool::wasm::describing",
    });
}
