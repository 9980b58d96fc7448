"""Configuration: one YAML file, strict keys, validated whole before a port opens."""

from adhere.config.load import load_config
from adhere.config.model import Config
from adhere.config.schema import config_schema

__all__ = ["Config", "config_schema", "load_config"]
