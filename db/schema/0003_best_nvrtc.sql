-- Schema version 3: the compiler that made the code of a best row, so that what an older one made can be found and tuned again.
-- What older rows have is looked up in their records (db/migration_steps.cpp).

ALTER TABLE best ADD COLUMN nvrtc TEXT NOT NULL DEFAULT '';
