"""What was said, in one form: bounded decoding of content, message shapes, digests and chains of messages.

Everything here is pure but for `MessageDecoder`, which remembers what it decoded, within a bound in bytes.
"""
