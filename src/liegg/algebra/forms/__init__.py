"""What a span of matrices preserves: forms, commutant, frames."""
