"""Pages as the site needs them: what GitHub shows from the repository is brought along, fences get titles.

The pages are written for GitHub and for the tests that run them. Three things differ on the site: files outside docs/
are not there, so that those a page links to are added under ``repository/``; `text output` is not a language; and
a README's pictures lie elsewhere.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
# Files of the repository that are pages of the site or that pages link to.
BROUGHT = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    "conf/select_features.yaml",
    "jobs/airflow/select_features_dag.py",
)
FOLDER = "repository"

_LINK = re.compile(r"(?P<before>\]\(|(?:src|href)=\")(?P<path>[^)\s\"#:]+)(?=[)\"#])")


def on_files(files: Files, config: Any) -> Files:
    for name in BROUGHT:
        files.append(File.generated(config, f"{FOLDER}/{name}", abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    markdown = re.sub(r"^```text output$", '```text title="Output"', markdown, flags=re.MULTILINE)
    return _LINK.sub(lambda link: link["before"] + moved(link["path"], page.file.src_uri), markdown)


def moved(link: str, page: str) -> str:
    """A link between files of the repository as one between files of the site.

    >>> moved("../conf/select_features.yaml", "table.md")
    'repository/conf/select_features.yaml'
    >>> moved("docs/tutorial.md", "repository/README.md")
    '../tutorial.md'
    >>> moved("tutorial.md", "index.md")
    'tutorial.md'
    """
    origin = page.removeprefix(f"{FOLDER}/") if page.startswith(f"{FOLDER}/") else f"docs/{page}"
    target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link))
    place = target.removeprefix("docs/") if target.startswith("docs/") else f"{FOLDER}/{target}"
    return posixpath.relpath(place, posixpath.dirname(page) or ".")
