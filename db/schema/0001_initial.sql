-- Schema version 1. Append-only: a released migration never changes; what comes later is 0002_*.sql.
--
-- Rows that merge are named by content keys (XXH3-128 of their defining texts, 32 hex digits), never by local ids.
-- `checksum` is the content key of a whole row as a reader gets it; a row that does not match its own is skipped.
-- Unsigned 64-bit numbers are stored as the signed number of the same bits.

CREATE TABLE schema_version (
  version    INTEGER PRIMARY KEY,
  migration  TEXT NOT NULL,              -- file that made this version
  applied_at TEXT NOT NULL               -- UTC
) STRICT;

CREATE TABLE devices (
  hard_key  TEXT NOT NULL PRIMARY KEY,
  checksum  TEXT NOT NULL,
  hard_json TEXT NOT NULL,
  info_json TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE templates (
  hash      TEXT NOT NULL PRIMARY KEY,
  checksum  TEXT NOT NULL,
  name      TEXT NOT NULL,
  spec_json TEXT NOT NULL
) STRICT;
CREATE INDEX templates_by_name ON templates (name, hash);

CREATE TABLE problems (
  key  TEXT NOT NULL PRIMARY KEY,        -- content key of text
  text TEXT NOT NULL                     -- canonical JSON, sizes included
) STRICT, WITHOUT ROWID;

CREATE TABLE configurations (
  key  TEXT NOT NULL PRIMARY KEY,        -- content key of text
  text TEXT NOT NULL                     -- canonical JSON
) STRICT, WITHOUT ROWID;

-- `id` only keeps the order in which records were first stored (convergence); nothing refers to it.
CREATE TABLE records (
  id                INTEGER PRIMARY KEY,
  key               TEXT NOT NULL UNIQUE, -- of template, problem, device, policy, configuration
  checksum          TEXT NOT NULL,
  template_hash     TEXT NOT NULL,
  problem_key       TEXT NOT NULL REFERENCES problems (key),
  device_key        TEXT NOT NULL,
  policy            TEXT NOT NULL,
  configuration_key TEXT NOT NULL REFERENCES configurations (key),
  outcome           TEXT NOT NULL,
  stage             TEXT NOT NULL,
  verified          INTEGER NOT NULL,
  detail_json       TEXT NOT NULL,
  driver            TEXT NOT NULL,
  nvrtc             TEXT NOT NULL,
  recorded_at       TEXT NOT NULL,
  origin            TEXT NOT NULL
) STRICT;
CREATE INDEX records_by_problem ON records (template_hash, problem_key, device_key, policy);

-- What was measured of a record; a failed configuration has none. `time_us` first, others (energy) later.
CREATE TABLE metrics (
  record_key TEXT NOT NULL REFERENCES records (key),
  name       TEXT NOT NULL,
  value      REAL NOT NULL,              -- the median
  low        REAL NOT NULL,
  high       REAL NOT NULL,
  samples    INTEGER NOT NULL,
  PRIMARY KEY (record_key, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  key           TEXT NOT NULL PRIMARY KEY,
  checksum      TEXT NOT NULL,
  template_hash TEXT NOT NULL,
  problem_key   TEXT NOT NULL REFERENCES problems (key),
  device_key    TEXT NOT NULL,
  policy        TEXT NOT NULL,
  strategy      TEXT NOT NULL,
  seed          INTEGER NOT NULL,
  state         TEXT NOT NULL,
  space_size    INTEGER NOT NULL,
  started_at    TEXT NOT NULL,
  finished_at   TEXT NOT NULL,
  summary_json  TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_by_problem ON sessions (template_hash, problem_key, device_key, policy);

-- The configuration each session has handed to a worker and not heard of since.
CREATE TABLE in_flight (
  session_key   TEXT NOT NULL PRIMARY KEY,
  checksum      TEXT NOT NULL,
  configuration TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What dispatch reads.
CREATE TABLE best (
  key               TEXT NOT NULL PRIMARY KEY, -- of template, problem, device, policy, objective
  checksum          TEXT NOT NULL,
  template_hash     TEXT NOT NULL,
  template_name     TEXT NOT NULL,
  family            TEXT NOT NULL,             -- the problem without its sizes
  problem_key       TEXT NOT NULL REFERENCES problems (key),
  sizes_json        TEXT NOT NULL,
  device_key        TEXT NOT NULL,
  policy            TEXT NOT NULL,
  objective         TEXT NOT NULL,
  configuration_key TEXT NOT NULL REFERENCES configurations (key),
  median_us         REAL NOT NULL,
  default_us        REAL NOT NULL,
  tie               INTEGER NOT NULL,
  cubin_key         TEXT NOT NULL,
  driver            TEXT NOT NULL,
  recorded_at       TEXT NOT NULL,
  detail_json       TEXT NOT NULL
) STRICT;
CREATE INDEX best_by_family ON best (template_hash, family, policy);
CREATE INDEX best_by_name ON best (template_name);

CREATE TABLE cubins (
  key         TEXT NOT NULL PRIMARY KEY,
  checksum    TEXT NOT NULL,
  cubin       BLOB NOT NULL,
  detail_json TEXT NOT NULL
) STRICT;
