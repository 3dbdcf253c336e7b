//! [`Objects`]: shared memory, semaphores and message queues that others can name.
#![expect(
    unsafe_code,
    reason = "System V and POSIX objects are made by calls of the C library"
)]

use std::ffi::{CString, c_int, c_long};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::ptr;

/// Objects of the host, each with the secret in it, which vanish with it.
#[derive(Debug)]
pub(crate) struct Objects {
    /// A segment of shared memory that begins with the secret.
    pub(crate) memory: c_int,
    /// A set of one semaphore with the value 1.
    pub(crate) semaphores: c_int,
    /// A queue with one message.
    pub(crate) messages: c_int,
    /// The name of a POSIX queue with one message, if the machine has such queues.
    pub(crate) queue: Option<String>,
    /// A file in `/dev/shm` with the secret.
    pub(crate) file: PathBuf,
}

impl Objects {
    pub(super) fn create(name: &str, secret: &str) -> io::Result<Self> {
        let file = PathBuf::from(format!("/dev/shm/{name}"));
        fs::write(&file, secret)?;
        Ok(Self {
            memory: shared_memory(secret)?,
            semaphores: semaphores()?,
            messages: message_queue(secret)?,
            queue: posix_queue(name, secret).ok(),
            file,
        })
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // SAFETY: removing by number takes no pointer but a null one; the name is a live C string.
        unsafe {
            libc::shmctl(self.memory, libc::IPC_RMID, ptr::null_mut());
            libc::semctl(self.semaphores, 0, libc::IPC_RMID);
            libc::msgctl(self.messages, libc::IPC_RMID, ptr::null_mut());
            if let Some(name) = self.queue.take().and_then(|name| CString::new(name).ok()) {
                libc::mq_unlink(name.as_ptr());
            }
        }
        let _ = fs::remove_file(&self.file);
    }
}

const OWNER_ONLY: c_int = 0o600;

fn shared_memory(secret: &str) -> io::Result<c_int> {
    const SIZE: usize = 4096;
    // SAFETY: the segment is attached where the system likes, is larger than the secret (whose length is
    // checked), and is used by nobody else before it is detached.
    unsafe {
        let id = libc::shmget(libc::IPC_PRIVATE, SIZE, libc::IPC_CREAT | OWNER_ONLY);
        check(c_long::from(id))?;
        let address = libc::shmat(id, ptr::null(), 0);
        check(address as c_long)?;
        let length = secret.len().min(SIZE);
        ptr::copy_nonoverlapping(secret.as_ptr(), address.cast(), length);
        libc::shmdt(address);
        Ok(id)
    }
}

fn semaphores() -> io::Result<c_int> {
    // SAFETY: neither call takes a pointer.
    unsafe {
        let id = libc::semget(libc::IPC_PRIVATE, 1, libc::IPC_CREAT | OWNER_ONLY);
        check(c_long::from(id))?;
        check(c_long::from(libc::semctl(id, 0, libc::SETVAL, 1)))?;
        Ok(id)
    }
}

fn message_queue(secret: &str) -> io::Result<c_int> {
    // A message begins with its type, a positive number.
    let mut message = 1_i64.to_ne_bytes().to_vec();
    message.extend(secret.as_bytes());
    // SAFETY: the pointer is to a live buffer of the given length after the type.
    unsafe {
        let id = libc::msgget(libc::IPC_PRIVATE, libc::IPC_CREAT | OWNER_ONLY);
        check(c_long::from(id))?;
        let sent = libc::msgsnd(id, message.as_ptr().cast(), secret.len(), libc::IPC_NOWAIT);
        check(c_long::from(sent))?;
        Ok(id)
    }
}

fn posix_queue(name: &str, secret: &str) -> io::Result<String> {
    let name = format!("/{name}");
    let text = CString::new(name.as_str())?;
    // SAFETY: the name and the message are live; null attributes mean the defaults.
    unsafe {
        let flags = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR;
        let attributes = ptr::null_mut::<libc::mq_attr>();
        let queue = libc::mq_open(text.as_ptr(), flags, OWNER_ONLY, attributes);
        check(c_long::from(queue))?;
        let sent = libc::mq_send(queue, secret.as_ptr().cast(), secret.len(), 0);
        libc::mq_close(queue);
        check(c_long::from(sent))?;
    }
    Ok(name)
}

fn check(result: c_long) -> io::Result<()> {
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
