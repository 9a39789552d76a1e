"""The audit between write and publish, and its pages."""
