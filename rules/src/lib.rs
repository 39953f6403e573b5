//! What blocks mean: what each operation requires and does to typed registers, authority checks, block validation.
