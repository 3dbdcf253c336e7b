//! A provider, and a broker that asks it.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jig_broker::{
    AuditEntry, AuditSink, Broker, BrokerParts, CancelToken, Chat, ChatReply, Llm, LlmError,
    LlmSettings, Resolver, Secrets,
};
use jig_files::{FilesLookup, MemoryFiles, ProjectFiles};
use jig_policy::{DeclaredAccess, DefaultAccess, Guards, Policy, Workspace};
use jig_proto::fsproxy::{LlmMessage, LlmRole};
use jig_testkit::provider::{Answer, Provider};

pub(crate) const KEY: &str = "sk-hunter22-9f8e";

pub(crate) struct World {
    pub(crate) provider: Provider,
    pub(crate) settings: LlmSettings,
    pub(crate) log: Arc<Log>,
    pub(crate) secrets: Secrets,
    pub(crate) resolver: Arc<dyn Resolver>,
}

impl World {
    /// A provider with a key, a quota of 10,000 and short waits.
    pub(crate) fn new() -> Self {
        let provider = Provider::start();
        let url = provider.url().parse().unwrap();
        let mut settings = LlmSettings::new(url, Some(KEY.to_owned()), "big-model").unwrap();
        settings.internal_model = "small-model".to_owned();
        settings.quota = Some(10_000.0);
        settings.max_tokens = 100;
        settings.backoff = Duration::from_millis(1);
        settings.retries = 2;
        Self {
            provider,
            settings,
            log: Arc::new(Log::default()),
            secrets: Secrets::new(),
            resolver: Arc::new(Names::default()),
        }
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut LlmSettings)) -> Self {
        change(&mut self.settings);
        self
    }

    pub(crate) fn always(self, answer: Answer) -> Self {
        self.provider.always(answer);
        self
    }

    /// A broker with a quota of its own.
    pub(crate) fn broker(&self) -> Broker {
        Broker::new(BrokerParts {
            llm: Some(Llm::new(self.settings.clone()).unwrap()),
            ..self.parts()
        })
    }

    pub(crate) fn parts(&self) -> BrokerParts {
        let files: Arc<dyn ProjectFiles> = Arc::new(MemoryFiles::new());
        let lookup = FilesLookup(Arc::clone(&files));
        let workspace = Workspace::new(files.display_root(), lookup);
        let (access, guards) = (DeclaredAccess::default(), Guards::default());
        let policy = Policy::compile(&access, DefaultAccess::READ_ONLY, &guards, &workspace);
        let mut parts = BrokerParts::new("asker", "c1", files, Arc::new(policy.unwrap()));
        parts.audit = Arc::clone(&self.log) as Arc<dyn AuditSink>;
        parts.secrets = self.secrets.clone();
        parts.http.resolver = Arc::clone(&self.resolver);
        parts
    }
}

/// A question in one piece, from the top level.
pub(crate) fn question(text: &str) -> Chat {
    Chat::new(vec![LlmMessage::new(LlmRole::User, text)])
}

/// The same as a stream.
pub(crate) fn streamed(text: &str) -> Chat {
    Chat {
        stream: true,
        ..question(text)
    }
}

pub(crate) fn ask(broker: &Broker, chat: &Chat) -> Result<ChatReply, LlmError> {
    broker.chat(chat, &CancelToken::new(), &mut |_| {})
}

/// The answer to a stream, and the pieces in which it came.
pub(crate) fn hear(broker: &Broker, chat: &Chat) -> (Vec<String>, Result<ChatReply, LlmError>) {
    let mut pieces = Vec::new();
    let result = broker.chat(chat, &CancelToken::new(), &mut |text| {
        pieces.push(text.to_owned());
    });
    (pieces, result)
}

pub(crate) fn used(broker: &Broker) -> f64 {
    let report = broker.llm().unwrap().quota();
    assert_eq!(report.reserved, 0.0, "something is still reserved");
    report.used
}

/// The most that a question of this text can cost, with answers of up to `tokens` tokens.
pub(crate) fn most(text: &str, tokens: u64) -> f64 {
    (text.len() as u64 + 16 + 4 * tokens) as f64
}

/// Keeps the audit entries; can be made to fail.
#[derive(Debug, Default)]
pub(crate) struct Log {
    entries: Mutex<Vec<AuditEntry>>,
    pub(crate) fails: std::sync::atomic::AtomicBool,
}

impl Log {
    pub(crate) fn entries(&self) -> Vec<AuditEntry> {
        self.entries.lock().unwrap().clone()
    }
}

impl AuditSink for Log {
    fn record(&self, entry: &AuditEntry) -> io::Result<()> {
        if self.fails.load(std::sync::atomic::Ordering::SeqCst) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.entries.lock().unwrap().push(entry.clone());
        Ok(())
    }
}

/// A resolver that knows what it is told.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names(pub(crate) HashMap<String, Vec<IpAddr>>);

impl Resolver for Names {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let found = self.0.get(name).cloned();
        found.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}
