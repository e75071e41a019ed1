-- Schema version 2: the source files of templates as they were when something was measured with them, so that the source
-- of every stored configuration, above all of one that failed, can be made again after its author has edited the files.

CREATE TABLE template_files (
  key           TEXT NOT NULL PRIMARY KEY, -- of template, name
  checksum      TEXT NOT NULL,
  template_hash TEXT NOT NULL,
  name          TEXT NOT NULL,
  contents      BLOB NOT NULL
) STRICT;
CREATE INDEX template_files_by_template ON template_files (template_hash, name);
