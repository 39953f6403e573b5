//! Macros that define the protocol's structures and variants: the Rust type, its packing in field order, its JSON.
//!
//! One definition serves all three, so that they cannot disagree about the order of the fields, which is the order of
//! the bytes.

/// Defines a structure, with or without a lifetime: its fields are packed in the order in which they are written.
macro_rules! packed_struct {
    (
        $(#[$meta:meta])*
        pub struct $name:ident<$life:lifetime> {
            $($(#[$field_meta:meta])* $field:ident: $type:ty,)*
        }
    ) => {
        $crate::structure::packed_struct! {
            @define [<$life>] [$life] $(#[$meta])* $name { $($(#[$field_meta])* $field: $type,)* }
        }
    };
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$field_meta:meta])* $field:ident: $type:ty,)*
        }
    ) => {
        $crate::structure::packed_struct! {
            @define [] ['input] $(#[$meta])* $name { $($(#[$field_meta])* $field: $type,)* }
        }
    };
    (
        @define [$($generics:tt)*] [$input:lifetime] $(#[$meta:meta])* $name:ident {
            $($(#[$field_meta:meta])* $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name $($generics)* {
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl<$input> $crate::pack::Unpack<$input> for $name $($generics)* {
            const MIN_SIZE: usize = 0 $(+ <$type as $crate::pack::Unpack<$input>>::MIN_SIZE)*;

            #[allow(unused_variables, reason = "a structure without fields reads nothing")]
            fn unpack(
                reader: &mut $crate::pack::Reader<$input>,
            ) -> Result<Self, $crate::pack::UnpackError> {
                Ok(Self { $($field: $crate::pack::Unpack::unpack(reader)?,)* })
            }
        }

        impl $($generics)* $crate::pack::Pack for $name $($generics)* {
            #[allow(unused_variables, reason = "a structure without fields writes nothing")]
            fn pack(&self, packer: &mut $crate::pack::Packer) {
                $($crate::pack::Pack::pack(&self.$field, packer);)*
            }
        }

        impl $($generics)* $crate::json::JsonValue for $name $($generics)* {
            fn to_json<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                #[allow(unused_mut, reason = "a structure without fields adds none")]
                let mut object = serde::Serializer::serialize_map(serializer, None)?;
                $($crate::json::field(&mut object, stringify!($field), &self.$field)?;)*
                serde::ser::SerializeMap::end(object)
            }
        }

        impl $($generics)* serde::Serialize for $name $($generics)* {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::json::JsonValue::to_json(self, serializer)
            }
        }

        #[cfg(test)]
        impl $($generics)* $crate::sample::Sample for $name $($generics)* {
            #[allow(unused_variables, reason = "a structure without fields draws nothing")]
            fn sample(source: &mut $crate::sample::Source) -> Self {
                Self { $($field: $crate::sample::Sample::sample(source),)* }
            }
        }
    };
}

/// Defines a variant: a varint index, then the body of that alternative. In JSON it is an object of the alternative's
/// name (`type`) and body (`value`). Indices must be written in order from 0.
macro_rules! packed_variant {
    (
        $(#[$meta:meta])*
        pub enum $name:ident<$life:lifetime> {
            $($(#[$alternative_meta:meta])* $index:literal $alternative:ident($type:ty) = $json:literal,)*
        }
    ) => {
        $crate::structure::packed_variant! {
            @define [<$life>] [$life] $(#[$meta])* $name {
                $($(#[$alternative_meta])* $index $alternative($type) = $json,)*
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[$alternative_meta:meta])* $index:literal $alternative:ident($type:ty) = $json:literal,)*
        }
    ) => {
        $crate::structure::packed_variant! {
            @define [] ['input] $(#[$meta])* $name {
                $($(#[$alternative_meta])* $index $alternative($type) = $json,)*
            }
        }
    };
    (
        @define [$($generics:tt)*] [$input:lifetime] $(#[$meta:meta])* $name:ident {
            $($(#[$alternative_meta:meta])* $index:literal $alternative:ident($type:ty) = $json:literal,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $name $($generics)* {
            $($(#[$alternative_meta])* $alternative($type),)*
        }

        impl $($generics)* $name $($generics)* {
            /// Number of alternatives.
            pub const COUNT: u32 = [$($index),*].len() as u32;

            /// Index of the alternative, as it is packed.
            #[must_use]
            pub const fn index(&self) -> u32 {
                match self {
                    $(Self::$alternative(_) => $index,)*
                }
            }

            /// Name of the alternative, as JSON gives it.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$alternative(_) => $json,)*
                }
            }
        }

        impl<$input> $crate::pack::Unpack<$input> for $name $($generics)* {
            // The smallest body may be empty.
            const MIN_SIZE: usize = 1;

            fn unpack(
                reader: &mut $crate::pack::Reader<$input>,
            ) -> Result<Self, $crate::pack::UnpackError> {
                let offset = reader.position();
                match reader.varint()? {
                    $($index => $crate::pack::Unpack::unpack(reader).map(Self::$alternative),)*
                    found => Err($crate::pack::UnpackError {
                        offset,
                        kind: $crate::pack::UnpackErrorKind::UnknownAlternative {
                            variant: stringify!($name),
                            alternatives: Self::COUNT,
                            found,
                        },
                    }),
                }
            }
        }

        impl $($generics)* $crate::pack::Pack for $name $($generics)* {
            fn pack(&self, packer: &mut $crate::pack::Packer) {
                packer.varint(self.index());
                match self {
                    $(Self::$alternative(body) => $crate::pack::Pack::pack(body, packer),)*
                }
            }
        }

        impl $($generics)* $crate::json::JsonValue for $name $($generics)* {
            fn to_json<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$alternative(body) => $crate::json::alternative(serializer, $json, body),)*
                }
            }
        }

        impl $($generics)* serde::Serialize for $name $($generics)* {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::json::JsonValue::to_json(self, serializer)
            }
        }

        #[cfg(test)]
        impl $($generics)* $crate::sample::Sample for $name $($generics)* {
            fn sample(source: &mut $crate::sample::Source) -> Self {
                match source.below(Self::COUNT.into()) as u32 {
                    $($index => Self::$alternative($crate::sample::Sample::sample(source)),)*
                    _ => unreachable!("drawn below the number of alternatives"),
                }
            }
        }
    };
}

pub(crate) use {packed_struct, packed_variant};
