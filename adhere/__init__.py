"""The Adhere application."""
