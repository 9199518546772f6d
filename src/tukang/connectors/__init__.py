"""Tools that reach a database or the web, each held to what it is given: `sql_tool`, `http_tool`, `web_search`.

None is there unless it is given to an agent. What they bring back comes from outside, and is marked so where it is. Nothing
here knows a provider.
"""

from tukang.connectors.http import http_tool
from tukang.connectors.sql import sql_schema_tool, sql_tool
from tukang.connectors.web_search import web_search

__all__ = ["http_tool", "sql_schema_tool", "sql_tool", "web_search"]
