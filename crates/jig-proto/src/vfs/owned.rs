//! Letting a message outlive the line that it was read from.

use std::borrow::Cow;

use crate::vfs::Payload;

/// A value that can give up what it borrows.
pub(super) trait IntoOwned {
    type Owned: 'static;

    fn into_owned(self) -> Self::Owned;
}

impl IntoOwned for Cow<'_, str> {
    type Owned = Cow<'static, str>;

    fn into_owned(self) -> Cow<'static, str> {
        Cow::Owned(Cow::into_owned(self))
    }
}

impl IntoOwned for Payload<'_> {
    type Owned = Payload<'static>;

    fn into_owned(self) -> Self::Owned {
        Payload::into_owned(self)
    }
}

impl<T: IntoOwned> IntoOwned for Option<T> {
    type Owned = Option<T::Owned>;

    fn into_owned(self) -> Self::Owned {
        self.map(T::into_owned)
    }
}

impl<T: IntoOwned> IntoOwned for Vec<T> {
    type Owned = Vec<T::Owned>;

    fn into_owned(self) -> Self::Owned {
        self.into_iter().map(T::into_owned).collect()
    }
}

/// Implements [`IntoOwned`] for types that borrow nothing.
macro_rules! plain {
    ($($type:ty),+ $(,)?) => {$(
        impl IntoOwned for $type {
            type Owned = Self;

            fn into_owned(self) -> Self {
                self
            }
        }
    )+};
}
plain!(bool, u16, u32, u64, i32);
pub(super) use plain;

/// Implements [`IntoOwned`] field by field.
macro_rules! owned {
    ($type:ident { $($field:ident),+ $(,)? }) => {
        impl $crate::vfs::owned::IntoOwned for $type<'_> {
            type Owned = $type<'static>;

            fn into_owned(self) -> Self::Owned {
                $type {
                    $($field: $crate::vfs::owned::IntoOwned::into_owned(self.$field)),+
                }
            }
        }
    };
}
pub(super) use owned;
