//! LLMCMD and QUOTA: what a client asks of a language model through its manager.
//!
//! [`run`] is one call, for both variants of the protocol: it checks the handles that are named, reads the
//! inputs through the client's own operations, so that the policy and the ownership of handles hold for a
//! prompt as for a `read`, and hands the messages to the broker, which alone knows the provider, the key and
//! the quota. The text goes back in the answer or to a handle of the client's.
//!
//! It starts no process and opens no file by itself. While a call runs the connection does nothing else: what
//! the client sends meanwhile is answered afterwards, in order. If the client goes away, the call is given up.

mod inputs;

use jig_broker::{CancelToken, Chat, ChatReply, LlmError};
use jig_proto::fsproxy::{
    FIRST_HANDLE, LlmCmd, LlmMessage, LlmReply, LlmRole, ProxyError, QuotaReport, write_error,
    write_result,
};

use super::client::ClientState;
use crate::plain_text::PlainStream;

/// What is left of the quota of the client tree.
///
/// Only a client in an LLM context is told (F-096), and only where there is a quota.
pub(super) fn quota(client: &ClientState) -> Result<QuotaReport, ProxyError> {
    let Some(llm) = client.broker().llm() else {
        return Err(ProxyError::unsupported(NOT_AVAILABLE));
    };
    if !client.allows_llm() {
        return Err(ProxyError::perm("LLM quota access denied"));
    }
    if !llm.has_quota() {
        return Err(ProxyError::unsupported("LLM quota not configured"));
    }
    Ok(llm.quota())
}

/// Serves one LLMCMD and appends its answer to `out`.
///
/// An answer that is larger than a frame cannot be sent. That is known when it has been paid for; the error
/// says how it is avoided.
pub(super) fn serve(client: &ClientState, id: &str, command: &LlmCmd, out: &mut Vec<u8>) {
    let start = out.len();
    match run(client, command) {
        Ok(finished) => write_result(out, id, &finished.into_reply()),
        Err(error) => return write_error(out, id, &error),
    }
    if out.len() - start > client.max_frame() + LENGTH_PREFIX {
        out.truncate(start);
        let error =
            ProxyError::range("the answer is larger than a frame: give `stdout` a handle for it");
        write_error(out, id, &error);
    }
}

/// A call that has ended well.
pub(super) struct FinishedLlmCall {
    pub(super) reply: ChatReply,
    /// How many bytes of text went to the handle for it; `None` if there was none.
    pub(super) written: Option<u64>,
    /// The quota after the call.
    pub(super) quota: QuotaReport,
}

impl FinishedLlmCall {
    /// The result of an LLMCMD: the text is in it unless it went to a handle.
    fn into_reply(self) -> LlmReply {
        LlmReply {
            content: self.written.is_none().then_some(self.reply.content),
            written: self.written,
            model: self.reply.model,
            finish_reason: self.reply.finish_reason,
            usage: self.reply.usage,
            quota: self.quota,
        }
    }
}

/// Makes one call, and delivers its text. What goes wrong after the handles were found good is also told on
/// `stderr`.
pub(super) fn run(client: &ClientState, command: &LlmCmd) -> Result<FinishedLlmCall, ProxyError> {
    let Some(llm) = client.broker().llm() else {
        return Err(ProxyError::unsupported(NOT_AVAILABLE));
    };
    if !client.allows_llm() {
        return Err(ProxyError::perm("LLM access denied"));
    }
    check_parameters(command)?;
    // Both are found good before an input is read and anything is spent.
    let stdout = redirected(client, command.stdout)?;
    let stderr = redirected(client, command.stderr)?;
    let finished = client.watched(|gone| {
        let messages = messages(client, command, llm.input_bytes())?;
        let chat = Chat {
            messages,
            is_top_level: is_top_level(client, command),
            max_tokens: command.max_tokens,
            temperature: command.temperature,
            stream: command.stream,
        };
        call(client, &chat, stdout, gone)
    });
    match finished {
        Ok((reply, written)) => Ok(FinishedLlmCall {
            reply,
            written,
            quota: llm.quota(),
        }),
        Err(error) => {
            if let Some(stderr) = stderr {
                // The error is told in any case; this is for who reads along.
                let _ = write_all(client, stderr, &error_line(&error));
            }
            Err(error)
        }
    }
}

/// Whether the call counts as one of the top level (F-072). A client that was attached below it stays there,
/// whatever it says.
fn is_top_level(client: &ClientState, command: &LlmCmd) -> bool {
    client.is_top_level() && command.is_top_level.unwrap_or(true)
}

fn check_parameters(command: &LlmCmd) -> Result<(), ProxyError> {
    let has_prompt = command
        .prompt
        .as_ref()
        .is_some_and(|prompt| !prompt.is_empty());
    if !has_prompt && command.messages.is_empty() {
        return Err(ProxyError::arg("missing prompt or messages"));
    }
    if command.stream && command.stdout.is_none() {
        return Err(ProxyError::arg("`stream` needs `stdout`"));
    }
    if command.files.len() + command.paths.len() > MAX_INPUTS {
        return Err(ProxyError::range(format!("more than {MAX_INPUTS} inputs")));
    }
    Ok(())
}

/// The handle that text is written to; `None` if it is one of 1 and 2 that leads nowhere.
fn redirected(client: &ClientState, handle: Option<u64>) -> Result<Option<u64>, ProxyError> {
    let Some(handle) = handle else {
        return Ok(None);
    };
    if matches!(handle, 1 | 2) && !client.has_stream(handle) {
        return Ok(None);
    }
    // Writing nothing changes nothing, and says whether writing is possible.
    match client.write(handle, b"") {
        Ok(_) => Ok(Some(handle)),
        Err(error) => Err(inputs::named(error, handle)),
    }
}

/// The messages of the call: those given, then the inputs and the prompt as one of the user's.
fn messages(
    client: &ClientState,
    command: &LlmCmd,
    most: usize,
) -> Result<Vec<LlmMessage>, ProxyError> {
    let mut content = inputs::gather(client, command, most)?;
    content.push_str(command.prompt.as_deref().unwrap_or_default());
    let mut messages = command.messages.clone();
    if !content.is_empty() {
        let role = LlmRole::User;
        messages.push(LlmMessage { role, content });
    }
    Ok(messages)
}

/// Makes the call; its text goes to `stdout` if that is a handle, while it comes if the chat is streamed.
fn call(
    client: &ClientState,
    chat: &Chat,
    stdout: Option<u64>,
    gone: &CancelToken,
) -> Result<(ChatReply, Option<u64>), ProxyError> {
    // The call is given up when the client goes, and when its text can no longer be delivered: nobody
    // should pay for what is thrown away.
    let stop = CancelToken::new();
    let _hook = gone.on_cancel({
        let stop = stop.clone();
        move || stop.cancel()
    });
    let mut delivery = stdout.map(|handle| LlmTextDelivery::new(client, handle));
    let reply = client.broker().chat(chat, &stop, &mut |text| {
        if let Some(delivery) = &mut delivery
            && chat.stream
            && delivery.push(text).is_err()
        {
            stop.cancel();
        }
    });
    let Some(mut delivery) = delivery else {
        return Ok((reply.map_err(failure)?, None));
    };
    if let Some(error) = delivery.failed {
        return Err(error);
    }
    let reply = reply.map_err(failure)?;
    if !chat.stream {
        delivery.push(&reply.content)?;
    }
    Ok((reply, Some(delivery.written)))
}

/// Text on its way to a handle.
struct LlmTextDelivery<'a> {
    client: &'a ClientState,
    handle: u64,
    /// Takes out what controls a terminal, if the handle leads to one: a model says what the texts that it
    /// has read make it say, and a person's terminal must not obey them.
    plain: Option<PlainStream>,
    written: u64,
    /// Why nothing more is delivered.
    failed: Option<ProxyError>,
}

impl<'a> LlmTextDelivery<'a> {
    fn new(client: &'a ClientState, handle: u64) -> Self {
        let is_terminal = handle < FIRST_HANDLE && client.stream_is_terminal(handle);
        Self {
            client,
            handle,
            plain: is_terminal.then(PlainStream::default),
            written: 0,
            failed: None,
        }
    }

    fn push(&mut self, text: &str) -> Result<(), ProxyError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let done = match &mut self.plain {
            None => write_all(self.client, self.handle, text.as_bytes()),
            Some(plain) => {
                let mut clean = String::with_capacity(text.len());
                plain.push(text.as_bytes(), &mut clean);
                write_all(self.client, self.handle, clean.as_bytes())
            }
        };
        match done {
            Ok(count) => {
                self.written += count;
                Ok(())
            }
            Err(error) => {
                self.failed = Some(error.clone());
                Err(error)
            }
        }
    }
}

fn write_all(client: &ClientState, handle: u64, mut bytes: &[u8]) -> Result<u64, ProxyError> {
    let mut done = 0;
    while !bytes.is_empty() {
        let count = client.write(handle, bytes)?;
        let rest = usize::try_from(count)
            .ok()
            .and_then(|count| bytes.get(count..));
        let Some(rest) = rest.filter(|_| count > 0) else {
            return Err(ProxyError::io("the text could not be written"));
        };
        bytes = rest;
        done += count;
    }
    Ok(done)
}

/// What went wrong, as the line that a program would print. The text may hold words of the provider.
fn error_line(error: &ProxyError) -> Vec<u8> {
    format!("llm: {}\n", jig_proto::visible_words(&error.message)).into_bytes()
}

/// The broker's word for what went wrong, in those of the protocol (F-078).
fn failure(error: LlmError) -> ProxyError {
    match error {
        LlmError::NotAvailable => ProxyError::unsupported(NOT_AVAILABLE),
        LlmError::QuotaExceeded => ProxyError::range("quota exceeded: cannot make LLM call"),
        LlmError::InvalidRequest(_) => ProxyError::arg(error.to_string()),
        LlmError::TooLarge { .. } => ProxyError::range(error.to_string()),
        LlmError::Cancelled | LlmError::Unaudited => ProxyError::io(error.to_string()),
        _ => ProxyError::io(format!("OpenAI API call failed: {error}")),
    }
}

const NOT_AVAILABLE: &str = "LLM not available";

/// The most files of one call. Each is opened, judged and written to the audit log, and a frame has room for
/// hundreds of thousands.
const MAX_INPUTS: usize = 256;

/// How many bytes stand before the text of a frame.
const LENGTH_PREFIX: usize = 4;

#[cfg(test)]
mod tests;
