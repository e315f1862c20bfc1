"""Configuration: plugins from TOML files, tables read key by key, and the lines they stand on."""
