use std::io::{Read, Write};
use std::time::Instant;
use jig_runtime::fsproxy::ClientOptions;
use jig_tool::proxy::{ChildOptions, Client, Mode, Relay};
use crate::world::World;
#[test]
fn scratch() {
    let world = World::new();
    let run = |what: &str, client: &Client| {
        let size = 50 << 20;
        for depth in [1, 32] {
            let start = Instant::now();
            let mut file = client.open("f", Mode::Write).unwrap().pipelined(depth);
            for _ in 0..size / 4096 { file.write_all(&[7; 4096]).unwrap(); }
            file.close().unwrap();
            let w = start.elapsed();
            let start = Instant::now();
            let mut file = client.open("f", Mode::Read).unwrap().pipelined(depth);
            let mut buffer = [0; 4096];
            let mut total = 0;
            loop { let n = file.read(&mut buffer).unwrap(); if n == 0 { break } total += n; }
            assert_eq!(total, size);
            let r = start.elapsed();
            let per = |d: std::time::Duration| d.as_secs_f64() * 1e6 / (size / 4096) as f64;
            println!("{what} depth {depth}: write {:.1} µs, read {:.1} µs per chunk", per(w), per(r));
        }
    };
    for _ in 0..2 {
    let (_c, socket) = world.manager.connect(ClientOptions::default()).unwrap();
    run("alone", &Client::from_socket(socket).unwrap());
    let (_c, socket) = world.manager.connect(ClientOptions::default()).unwrap();
    let client = Client::from_socket(socket).unwrap();
    let relay = Relay::new(client.clone()).unwrap();
    run("with a reader thread", &client);
    let (_a, socket) = relay.attach(ChildOptions::default()).unwrap();
    run("through a relay", &Client::from_socket(socket).unwrap());
    }
}
