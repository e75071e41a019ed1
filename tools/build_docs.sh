#!/usr/bin/env bash
# Builds the documentation as a site: README.md and docs by MkDocs, the public headers by Doxygen. Needs no network; checks all links.
# Usage: tools/build_docs.sh FOLDER [URL]    FOLDER: a new or empty one, or one that an earlier call made: the site, which begins at index.html
#                                            URL: where the repository is shown, for links to sources: https://HOST/OWNER/NAME; without it they are text
# Exit code: 1 when something is wrong with a page; 2 for wrong arguments; 4 when mkdocs or doxygen is missing (the Debian packages of these names).
set -euo pipefail

site=${1:-}
repository=${2:-}
[[ -n $site ]] || { echo "Usage: tools/build_docs.sh FOLDER [URL]" >&2; exit 2; }
site=$(realpath -m "$site")
if [[ -e $site && ! -f $site/.attune-site && -n $(ls -A "$site" 2>/dev/null || echo file) ]]; then
  echo "$site is no site of an earlier call and not empty: it stays as it is." >&2
  exit 2
fi
for program in mkdocs doxygen; do
  command -v "$program" >/dev/null || { echo "There is no $program here: install the Debian package $program." >&2; exit 4; }
done

cd "$(dirname "$0")/.."
mkdir -p "$site"
touch "$site/.attune-site"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp docs/site/mkdocs.yml "$work/mkdocs.yml"
python3 -B docs/site/stage.py "$work/pages" --repository "$repository"
cp docs/site/site.css "$work/pages/"
{ cat docs/site/Doxyfile; echo "OUTPUT_DIRECTORY = \"$work/pages\""; } >"$work/Doxyfile"
doxygen "$work/Doxyfile"
mkdocs build --quiet --strict --clean --config-file "$work/mkdocs.yml" --site-dir "$site"
rm -f "$site/404.html"  # its links need to know the host that the site lies on
python3 -B docs/site/check_links.py --built "$site"
echo "The site begins at $site/index.html"
