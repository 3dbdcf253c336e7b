//! The arena, and every attack in it.

#[cfg(target_os = "linux")]
mod arena;
#[cfg(target_os = "linux")]
mod attacks;
#[cfg(target_os = "linux")]
mod wait;
