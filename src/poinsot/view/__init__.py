"""Pictures and words about a run. Everything here takes arrays and plain values, and knows no model or method."""
