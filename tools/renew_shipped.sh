#!/usr/bin/env bash
# Renews all that the shipped database is made of (tools/renew_shipped.py --help).
exec python3 "$(dirname "$0")/renew_shipped.py" "$@"
