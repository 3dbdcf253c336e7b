//! Each operation, each answer.

use jig_runtime::fsproxy::{ClientOptions, ManagerOptions};
use serde_json::json;

use crate::fsproxy::support::{Backend, World, encode, frame, on_both};

/// Requests as they are written and answers as they come, byte by byte.
#[test]
fn f020_f021_f022_f023_f031_f040_f041_f042_f044_messages_are_those_of_the_document() {
    on_both(|world| {
        let mut raw = world.raw();
        let mut check = |request: &str, expected: &str| {
            raw.send(&serde_json::from_str(request).unwrap());
            assert_eq!(raw.receive_text(), expected, "{request}");
        };
        check(
            r#"{"id":"1","op":"open","params":{"path":"out/test.txt","mode":"w"}}"#,
            r#"{"id":"1","ok":true,"result":{"handle":3}}"#,
        );
        check(
            r#"{"id":"4","op":"write","params":{"h":3,"data":"aGVsbG8=","final":false}}"#,
            r#"{"id":"4","ok":true,"result":{"written":5}}"#,
        );
        check(
            r#"{"id":"5","op":"close","params":{"h":3}}"#,
            r#"{"id":"5","ok":true}"#,
        );
        check(
            r#"{"id":"two words, \"quoted\" \u00e4","op":"open","params":{"path":"out/test.txt","mode":"r"}}"#,
            r#"{"id":"two words, \"quoted\" ä","ok":true,"result":{"handle":4}}"#,
        );
        check(
            r#"{"id":"2","op":"read","params":{"h":4,"max":4096}}"#,
            r#"{"id":"2","ok":true,"result":{"data":"aGVsbG8=","eof":false}}"#,
        );
        check(
            r#"{"id":"3","op":"read","params":{"h":4,"max":4096}}"#,
            r#"{"id":"3","ok":true,"result":{"data":"","eof":true}}"#,
        );
        check(
            r#"{"id":"1","op":"open","params":{"mode":"r"}}"#,
            r#"{"id":"1","ok":false,"error":{"code":"E_ARG","message":"missing path"}}"#,
        );
        assert_eq!(world.content("out/test.txt").unwrap(), b"hello");
    });
}

#[test]
fn f030_f037_f091_x32_x34_parameters_are_checked_and_the_connection_goes_on() {
    on_both(|world| {
        let mut raw = world.raw();
        let handle = raw.open("in/a.txt", "r").unwrap();
        assert_eq!(handle, 3);
        let mut check = |request: &str, id: &str, code: &str, message: &str| {
            raw.send(&serde_json::from_str(request).unwrap());
            let answer = raw.receive();
            assert_eq!(answer["id"].to_string(), id, "{request}");
            assert_eq!(answer["ok"], false, "{request}");
            assert_eq!(answer["error"]["code"], code, "{request}: {answer}");
            let said = answer["error"]["message"].as_str().unwrap();
            assert!(said.contains(message), "{request}: {said}");
        };
        let mut arg = |op: &str, params: &str, message: &str| {
            let request = format!(r#"{{"id":"x","op":"{op}","params":{params}}}"#);
            check(&request, "\"x\"", "E_ARG", message);
        };
        arg("open", "{}", "missing path");
        arg("open", r#"{"path":"","mode":"r"}"#, "missing path");
        arg("open", r#"{"path":"a"}"#, "missing mode");
        arg("open", r#"{"path":"a","mode":"x"}"#, "invalid mode");
        arg("open", r#"{"path":"a","mode":"r+"}"#, "invalid mode");
        arg("open", r#"{"path":7,"mode":"r"}"#, "path");
        arg("open", r#"{"path":"a\u0000b","mode":"w"}"#, "NUL");
        arg("open", r#"{"path":".","mode":"r"}"#, "directory");
        arg("open", r#"{"path":"in","mode":"r"}"#, "directory");
        arg(
            "open",
            r#"{"path":"a","mode":"r","is_top_level":1}"#,
            "is_top_level",
        );
        arg("open", "[]", "object");
        arg("open", "7", "object");
        arg("read", "{}", "h");
        arg("read", r#"{"h":-1}"#, "h");
        arg("read", r#"{"h":3.5}"#, "h");
        arg("read", r#"{"h":"3"}"#, "h");
        arg("read", r#"{"h":3,"max":0}"#, "max");
        arg("read", r#"{"h":3,"max":-1}"#, "max");
        arg("read", r#"{"h":3,"max":"4"}"#, "max");
        arg("write", r#"{"h":3}"#, "data");
        arg("write", r#"{"h":3,"data":7}"#, "data");
        arg("write", r#"{"h":3,"data":"a"}"#, "");
        arg("write", r#"{"h":3,"data":"aGVsbG8"}"#, "");
        arg("write", r#"{"h":3,"data":"aGVs_bG8="}"#, "");
        arg("close", "{}", "h");
        check(
            r#"{"id":"1","op":"stat"}"#,
            "\"1\"",
            "E_UNSUPPORTED",
            "stat",
        );
        check(
            r#"{"id":"1","op":"OPEN"}"#,
            "\"1\"",
            "E_UNSUPPORTED",
            "OPEN",
        );
        check(r#"{"id":"1"}"#, "\"1\"", "E_ARG", "op");
        check(r#"{"op":"open"}"#, "\"?\"", "E_ARG", "id");
        check(r#"{"id":7,"op":"QUOTA"}"#, "7", "E_ARG", "id");
        check(r#"{"id":true,"op":"QUOTA"}"#, "true", "E_ARG", "id");
        check(r#"{"id":[1],"op":"QUOTA"}"#, "\"?\"", "E_ARG", "id");
        assert_eq!(raw.read(3, 10), Ok((b"hello".to_vec(), false)));
    });
}

#[test]
fn f032_f033_f034_f035_f036_f046_each_mode_does_what_it_says() {
    // Real files in `out`, virtual ones under names that no rule speaks of.
    on_both(|world| {
        for folder in ["out", "scratch"] {
            let mut raw = world.raw();
            let path = |name: &str| format!("{folder}/{name}");
            let old = path("modes.txt");

            assert_eq!(raw.open_code(&old, "r"), "E_NOENT");
            let handle = raw.open(&old, "w").unwrap();
            assert_eq!(raw.write(handle, b"0123456789"), Ok(10));
            assert_eq!(raw.read(handle, 4).unwrap_err().0, "E_PERM");
            raw.close(handle).unwrap();
            assert_eq!(raw.content(&old).unwrap(), b"0123456789");

            let handle = raw.open(&old, "r").unwrap();
            assert_eq!(raw.write(handle, b"x").unwrap_err().0, "E_PERM");
            assert_eq!(raw.write(handle, b"").unwrap_err().0, "E_PERM");
            assert_eq!(raw.read(handle, 4), Ok((b"0123".to_vec(), false)));
            assert_eq!(raw.read(handle, 100), Ok((b"456789".to_vec(), false)));
            assert_eq!(raw.read(handle, 100), Ok((Vec::new(), true)));
            raw.close(handle).unwrap();

            let handle = raw.open(&old, "a").unwrap();
            assert_eq!(raw.write(handle, b"ab"), Ok(2));
            assert_eq!(raw.read(handle, 4).unwrap_err().0, "E_PERM");
            raw.put(&old, "a", b"cd");
            assert_eq!(raw.write(handle, b"ef"), Ok(2));
            raw.close(handle).unwrap();
            assert_eq!(raw.content(&old).unwrap(), b"0123456789abcdef");

            // One offset for reading and writing, from the beginning, and nothing is cut.
            let handle = raw.open(&old, "rw").unwrap();
            assert_eq!(raw.read(handle, 2), Ok((b"01".to_vec(), false)));
            assert_eq!(raw.write(handle, b"XY"), Ok(2));
            assert_eq!(raw.read(handle, 2), Ok((b"45".to_vec(), false)));
            raw.close(handle).unwrap();
            assert_eq!(raw.content(&old).unwrap(), b"01XY456789abcdef");

            raw.put(&old, "w", b"new");
            assert_eq!(raw.content(&old).unwrap(), b"new");

            for (name, mode) in [("made-w", "w"), ("made-a", "a"), ("made-rw", "rw")] {
                let handle = raw.open(&path(name), mode).unwrap();
                raw.close(handle).unwrap();
                assert_eq!(raw.content(&path(name)).unwrap(), b"", "{name}");
            }
            let is_real = world.content("out/made-a").is_some();
            assert!(is_real && world.content("scratch/made-a").is_none());
        }
    });
}

#[test]
fn f004_all_bytes_come_back_in_chunks() {
    on_both(|world| {
        let content: Vec<u8> = (0..100_000_u32).map(|n| (n * 7 % 251) as u8).collect();
        for path in ["out/large", "large"] {
            let mut raw = world.raw();
            let handle = raw.open(path, "w").unwrap();
            for chunk in content.chunks(4096) {
                assert_eq!(raw.write(handle, chunk), Ok(chunk.len() as u64));
            }
            raw.close(handle).unwrap();
            assert_eq!(raw.content(path).unwrap(), content);
        }
    });
}

#[test]
fn f043_final_is_accepted_and_changes_nothing() {
    on_both(|world| {
        let mut raw = world.raw();
        let handle = raw.open("out/final.txt", "w").unwrap();
        for (last, text) in [(true, "one"), (false, "two"), (true, "three")] {
            let params = json!({ "h": handle, "data": encode(text.as_bytes()), "final": last });
            let written = raw.ask("write", params).unwrap();
            assert_eq!(written["written"], text.len());
        }
        assert_eq!(world.content("out/final.txt").unwrap(), b"onetwothree");
        let bad = json!({ "h": handle, "data": "", "final": "yes" });
        assert_eq!(raw.ask("write", bad).unwrap_err().0, "E_ARG");
    });
}

#[test]
fn f025_f026_x30b_a_read_is_4096_bytes_at_most() {
    let content = vec![b'x'; 10_000];
    let check = |lenient: bool, max: serde_json::Value, expected: Result<usize, &str>| {
        let options = ManagerOptions {
            lenient,
            ..ManagerOptions::default()
        };
        let world = World::new(Backend::Memory, options);
        world.put("in/large", &content);
        let mut raw = world.raw();
        let handle = raw.open("in/large", "r").unwrap();
        let mut params = json!({ "h": handle });
        if !max.is_null() {
            params["max"] = max;
        }
        let read = raw.ask("read", params.clone());
        let read = read.map(|read| read["data"].as_str().unwrap().len() / 4 * 3);
        let read = read.map_err(|(code, _)| code);
        // The text is padded to a multiple of 4.
        let expected = expected.map(|count| count.div_ceil(3) * 3);
        assert_eq!(read, expected.map_err(str::to_owned), "{lenient} {params}");
    };
    for lenient in [false, true] {
        check(lenient, json!(null), Ok(4096));
        check(lenient, json!(4096), Ok(4096));
        check(lenient, json!(1), Ok(1));
        check(lenient, json!(0), Err("E_ARG"));
    }
    check(false, json!(4097), Err("E_RANGE"));
    check(false, json!(8192), Err("E_RANGE"));
    check(false, json!(u64::MAX), Err("E_RANGE"));
    check(true, json!(8192), Ok(4096));
    check(true, json!(u64::MAX), Ok(4096));
}

#[test]
fn f045_x30_what_is_not_open_is_closed() {
    on_both(|world| {
        let mut raw = world.raw();
        let handle = raw.open("in/a.txt", "r").unwrap();
        raw.close(handle).unwrap();
        for number in [handle, 4, 1000, 1 << 40, u64::MAX] {
            assert_eq!(raw.read(number, 10).unwrap_err().0, "E_CLOSED", "{number}");
            assert_eq!(raw.write(number, b"x").unwrap_err().0, "E_CLOSED");
            assert_eq!(raw.close(number).unwrap_err().0, "E_CLOSED");
        }
        // A number is given once.
        assert_eq!(raw.open("in/a.txt", "r"), Ok(handle + 1));
    });
}

#[test]
fn f005_f006_x29_pipelined_requests_are_answered_once_and_in_order() {
    on_both(|world| {
        let mut raw = world.raw();
        let handle = raw.open("out/many", "w").unwrap();
        let mut sent = Vec::new();
        for number in 0..2000 {
            let id = format!("p{number}");
            let request = match number % 4 {
                0 => {
                    json!({ "id": id, "op": "open", "params": { "path": "in/none", "mode": "r" } })
                }
                1 => json!({ "id": id, "op": "nothing" }),
                2 => json!({ "id": id, "op": "write", "params": { "h": handle, "data": "YWI=" } }),
                _ => json!({ "id": id, "op": "read", "params": { "h": handle } }),
            };
            sent.extend(frame(&request));
        }
        let mut writer = raw.socket.try_clone().unwrap();
        let sending = std::thread::spawn(move || {
            std::io::Write::write_all(&mut writer, &sent).unwrap();
        });
        for number in 0..2000 {
            let answer = raw.receive();
            assert_eq!(answer["id"], format!("p{number}"));
            let expected = ["E_NOENT", "E_UNSUPPORTED", "", "E_PERM"][number % 4];
            assert_eq!(answer["error"]["code"].as_str().unwrap_or(""), expected);
        }
        sending.join().unwrap();
        assert_eq!(world.content("out/many").unwrap(), b"ab".repeat(500));
        assert_eq!(world.manager.clients()[0].requests, 2001);
    });
}

#[test]
fn f051_x31_without_a_language_model_its_operations_are_unsupported() {
    on_both(|world| {
        for llm in [false, true] {
            let options = ClientOptions {
                llm,
                ..ClientOptions::default()
            };
            let (_client, mut raw) = world.connect_as(options);
            assert_eq!(raw.ask("QUOTA", json!({})).unwrap_err().0, "E_UNSUPPORTED");
            let asked = raw.ask("LLMCMD", json!({ "prompt": "hi" }));
            assert_eq!(asked.unwrap_err().0, "E_UNSUPPORTED");
        }
        assert!(world.manager.quota().is_none());
    });
}

#[test]
fn f085_f086_the_tables_have_the_documents_fields() {
    on_both(|world| {
        let nested = ClientOptions {
            top_level: false,
            pid: Some(4711),
            label: "stage 2".to_owned(),
            ..ClientOptions::default()
        };
        let (first, mut one) = world.connect();
        let (second, mut two) = world.connect_as(nested);
        assert_eq!((first.id(), second.id()), ("c1", "c2"));
        one.open("in/a.txt", "r").unwrap();
        two.open("./notes/../notes.txt", "rw").unwrap();
        let params = json!({ "path": "/elsewhere/x", "mode": "a", "is_top_level": false });
        one.ask("open", params).unwrap();
        // A nested client cannot make itself one of the top level.
        let params = json!({ "path": "y", "mode": "w", "is_top_level": true });
        two.ask("open", params).unwrap();

        let mut files = serde_json::to_value(world.manager.files()).unwrap();
        for row in files.as_array_mut().unwrap() {
            let opened_at = row.as_object_mut().unwrap().remove("opened_at").unwrap();
            assert!(opened_at.as_str().unwrap().starts_with("20"), "{opened_at}");
        }
        let row = |number: u64, name: &str, mode: &str, client: &str, top: bool, virt: bool| {
            json!({
                "fileno": number, "filename": name, "mode": mode, "client_id": client,
                "is_top_level": top, "virtual": virt,
            })
        };
        let expected = json!([
            row(3, "in/a.txt", "r", "c1", true, false),
            row(4, "notes.txt", "rw", "c2", false, true),
            row(5, "/elsewhere/x", "a", "c1", false, true),
            row(6, "y", "w", "c2", false, true),
        ]);
        assert_eq!(files, expected);

        first.set_pid(11);
        let clients = serde_json::to_value(world.manager.clients()).unwrap();
        assert_eq!(clients[0]["pid"], 11);
        assert_eq!(clients[0]["id"], "c1");
        assert_eq!(clients[0]["open_files"], json!([3, 5]));
        assert_eq!(clients[1]["open_files"], json!([4, 6]));
        let is_socket = |row: &serde_json::Value| {
            let id = row["pipe_id"].as_str().unwrap();
            id.starts_with("socket:[")
        };
        assert!(is_socket(&clients[0]) && is_socket(&clients[1]));
        assert_ne!(clients[0]["pipe_id"], clients[1]["pipe_id"]);
        assert!(clients[0]["connected_at"].as_str().unwrap().ends_with('Z'));
        assert_eq!(
            (&clients[1]["pid"], &clients[1]["label"]),
            (&json!(4711), &json!("stage 2"))
        );
    });
}
