//! [`Answer`]: what the server does with one request.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Gate, Recorded};

/// What the server does with one request: what it sends, and how.
#[derive(Debug, Clone)]
pub struct Answer {
    content: Content,
    status: u16,
    headers: Vec<(String, String)>,
    chunked: bool,
    pause: Option<Duration>,
    end: End,
    gate: Option<Gate>,
}

#[derive(Debug, Clone)]
enum Content {
    /// A valid answer, as one JSON object or as events.
    Text(Text),
    /// A body of this type.
    Body(String, Vec<u8>),
    /// These bytes instead of HTTP.
    Raw(Vec<u8>),
    /// A body that never ends: a beginning, and the same again and again.
    Endless(String, Vec<u8>, Vec<u8>),
}

#[derive(Debug, Clone)]
struct Text {
    text: String,
    model: String,
    finish_reason: String,
    usage: Option<Value>,
}

/// What happens after the content, or after a number of bytes of it.
#[derive(Debug, Clone, Copy)]
enum End {
    Whole,
    Cut(usize),
    Hang(usize),
}

impl Answer {
    /// A valid answer with this text, as a stream of words if a stream was asked for. It reports 10 tokens of
    /// input and 5 of output, and stopped by itself.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Content::Text(Text {
            text: text.into(),
            model: "test-model".to_owned(),
            finish_reason: "stop".to_owned(),
            usage: Some(usage(10, 0, 5)),
        }))
    }

    /// An error as OpenAI words it.
    pub fn error(status: u16, message: &str) -> Self {
        let error = json!({"error": {"message": message, "type": "test", "code": null}});
        let answer = Self::body("application/json", error.to_string());
        Self { status, ..answer }
    }

    /// A body of this type, with the status 200.
    pub fn body(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::new(Content::Body(content_type.to_owned(), body.into()))
    }

    /// A stream of events with these data, one each, and nothing else.
    pub fn events<'a>(data: impl IntoIterator<Item = &'a str>) -> Self {
        let events = data.into_iter().map(|data| format!("data: {data}\n\n"));
        Self::body("text/event-stream", events.collect::<String>()).chunked()
    }

    /// These bytes, whatever they mean, instead of an answer of HTTP. Then the connection is closed.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(Content::Raw(bytes.into()))
    }

    /// A body without end: `beginning`, and `again` for as long as somebody reads.
    pub fn endless(content_type: &str, beginning: &str, again: &str) -> Self {
        let again = again.repeat(1 + 16 * 1024 / again.len().max(1));
        let (beginning, again) = (beginning.as_bytes().to_vec(), again.into_bytes());
        Self::new(Content::Endless(content_type.to_owned(), beginning, again))
    }

    /// Nothing, for as long as somebody waits.
    pub fn silence() -> Self {
        Self::raw("").hanging_after(0)
    }

    /// Nothing: the connection is closed.
    pub fn hanging_up() -> Self {
        Self::raw("")
    }

    fn new(content: Content) -> Self {
        Self {
            content,
            status: 200,
            headers: Vec::new(),
            chunked: false,
            pause: None,
            end: End::Whole,
            gate: None,
        }
    }

    /// With this status.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Reports this usage; the cached tokens are part of the input. Only of a [`text`](Self::text).
    #[must_use]
    pub fn usage(self, input: u64, cached: u64, output: u64) -> Self {
        self.usage_json(Some(usage(input, cached, output)))
    }

    /// Reports this as usage, whatever it is, or none. Only of a [`text`](Self::text).
    #[must_use]
    pub fn usage_json(mut self, usage: Option<Value>) -> Self {
        if let Content::Text(text) = &mut self.content {
            text.usage = usage;
        }
        self
    }

    /// Says that it stopped for this reason. Only of a [`text`](Self::text).
    #[must_use]
    pub fn finish_reason(mut self, reason: &str) -> Self {
        if let Content::Text(text) = &mut self.content {
            text.finish_reason = reason.to_owned();
        }
        self
    }

    /// Calls its model this. Only of a [`text`](Self::text).
    #[must_use]
    pub fn model(mut self, model: &str) -> Self {
        if let Content::Text(text) = &mut self.content {
            text.model = model.to_owned();
        }
        self
    }

    /// Sends the body in chunks, without saying its length. A stream is always sent so.
    #[must_use]
    pub fn chunked(mut self) -> Self {
        self.chunked = true;
        self
    }

    /// Sends byte by byte, with a pause after each.
    #[must_use]
    pub fn slowly(mut self, pause: Duration) -> Self {
        self.pause = Some(pause);
        self
    }

    /// Closes the connection after so many bytes of the body.
    #[must_use]
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.end = End::Cut(bytes);
        self
    }

    /// Sends so many bytes of the body, and then nothing for as long as somebody waits.
    #[must_use]
    pub fn hanging_after(mut self, bytes: usize) -> Self {
        self.end = End::Hang(bytes);
        self
    }

    /// Sends nothing before the gate is open.
    #[must_use]
    pub fn held(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    pub(super) fn give(
        &self,
        stream: &TcpStream,
        request: &Recorded,
        over: &AtomicBool,
    ) -> io::Result<()> {
        if let Some(gate) = &self.gate {
            gate.wait(over);
        }
        let out = Out {
            stream,
            pause: self.pause,
            over,
        };
        let (kind, pieces, endless) = match &self.content {
            Content::Raw(bytes) => {
                out.send(self.end.shorten(bytes))?;
                return self.end.wait(stream);
            }
            Content::Text(text) if request.wants_stream() => {
                ("text/event-stream", text.events(), None)
            }
            Content::Text(text) => ("application/json", vec![text.object()], None),
            Content::Body(kind, body) => (kind.as_str(), vec![body.clone()], None),
            Content::Endless(kind, beginning, again) => {
                (kind.as_str(), vec![beginning.clone()], Some(again))
            }
        };
        let chunked = self.chunked || endless.is_some() || pieces.len() > 1;
        let length = pieces.iter().map(Vec::len).sum();
        out.send(self.head(kind, (!chunked).then_some(length)).as_bytes())?;
        let mut left = self.end.limit();
        for piece in &pieces {
            let piece = &piece[..piece.len().min(left)];
            left -= piece.len();
            out.send_part(piece, chunked)?;
        }
        if !matches!(self.end, End::Whole) {
            return self.end.wait(stream);
        }
        while let Some(again) = endless
            && !over.load(Ordering::SeqCst)
        {
            out.send_part(again, true)?;
        }
        if chunked {
            out.send(b"0\r\n\r\n")?;
        }
        Ok(())
    }

    fn head(&self, kind: &str, length: Option<usize>) -> String {
        let mut head = format!(
            "HTTP/1.1 {} Test\r\nContent-Type: {kind}\r\nConnection: close\r\n",
            self.status
        );
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        match length {
            Some(length) => head.push_str(&format!("Content-Length: {length}\r\n\r\n")),
            None => head.push_str("Transfer-Encoding: chunked\r\n\r\n"),
        }
        head
    }
}

impl End {
    fn limit(self) -> usize {
        match self {
            Self::Whole => usize::MAX,
            Self::Cut(bytes) | Self::Hang(bytes) => bytes,
        }
    }

    fn shorten(self, bytes: &[u8]) -> &[u8] {
        &bytes[..bytes.len().min(self.limit())]
    }

    /// Waits until the client, or the end of the server, closes the connection, if that is wanted.
    fn wait(self, mut stream: &TcpStream) -> io::Result<()> {
        if matches!(self, Self::Hang(_)) {
            let mut buffer = [0; 64];
            while stream.read(&mut buffer)? > 0 {}
        }
        Ok(())
    }
}

/// The connection, and how fast it is used.
struct Out<'a> {
    stream: &'a TcpStream,
    pause: Option<Duration>,
    over: &'a AtomicBool,
}

impl Out<'_> {
    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let mut stream = self.stream;
        let Some(pause) = self.pause else {
            return stream.write_all(bytes);
        };
        for byte in bytes {
            if self.over.load(Ordering::SeqCst) {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            stream.write_all(&[*byte])?;
            thread::sleep(pause);
        }
        Ok(())
    }

    /// Sends a part of a body, as a chunk if it is sent in those.
    fn send_part(&self, part: &[u8], chunked: bool) -> io::Result<()> {
        if !chunked {
            return self.send(part);
        }
        // An empty chunk would be the last one.
        if part.is_empty() {
            return Ok(());
        }
        self.send(format!("{:x}\r\n", part.len()).as_bytes())?;
        self.send(part)?;
        self.send(b"\r\n")
    }
}

impl Text {
    fn object(&self) -> Vec<u8> {
        let message = json!({"role": "assistant", "content": self.text, "refusal": null});
        let choice = json!({"index": 0, "message": message, "finish_reason": self.finish_reason});
        let mut object = self.frame("chat.completion", &json!([choice]));
        if let Some(usage) = &self.usage {
            object["usage"] = usage.clone();
        }
        object.to_string().into_bytes()
    }

    /// Each as a piece of its own: the role, the words, the reason for stopping, the usage, the end.
    fn events(&self) -> Vec<Vec<u8>> {
        let delta = |delta: Value, reason: Value| {
            let choice = json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
            let mut chunk = self.frame("chat.completion.chunk", &choice);
            chunk["usage"] = Value::Null;
            chunk
        };
        let mut chunks = vec![delta(
            json!({"role": "assistant", "content": ""}),
            Value::Null,
        )];
        for word in self.text.split_inclusive(' ') {
            chunks.push(delta(json!({"content": word}), Value::Null));
        }
        chunks.push(delta(json!({}), json!(self.finish_reason)));
        if let Some(usage) = &self.usage {
            let mut chunk = self.frame("chat.completion.chunk", &json!([]));
            chunk["usage"] = usage.clone();
            chunks.push(chunk);
        }
        let event = |chunk: &Value| format!("data: {chunk}\n\n").into_bytes();
        let mut events: Vec<Vec<u8>> = chunks.iter().map(event).collect();
        events.push(b"data: [DONE]\n\n".to_vec());
        events
    }

    fn frame(&self, object: &str, choices: &Value) -> Value {
        json!({
            "id": "chatcmpl-test",
            "object": object,
            "created": 1_700_000_000,
            "model": self.model,
            "choices": choices,
        })
    }
}

fn usage(input: u64, cached: u64, output: u64) -> Value {
    json!({
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input + output,
        "prompt_tokens_details": {"cached_tokens": cached},
    })
}
