"""Code blocks: their languages, their lines, and what stands beside these."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ('<pre><code class="python">x</code></pre>', "python"),  # highlight.js
        ('<pre><code class="bash ">x</code></pre>', "bash"),
        ('<pre class="code python literal-block">x</pre>', "python"),  # docutils
        ('<pre><code class="makeup elixir">x</code></pre>', "elixir"),  # ExDoc
        ('<pre class="highlight ruby tab-ruby"><code>x</code></pre>', "ruby"),  # Slate
        ('<pre><code class="js hljs">x</code></pre>', "js"),
        ('<pre><code class="ruby syntaxhl">x</code></pre>', "ruby"),  # Redmine
        ('<pre data-syntaxhighlighter-params="brush: java; gutter: false">x</pre>', "java"),  # Confluence
        ('<pre syntax="Python">x</pre>', "python"),
        ('<div class="highlight hl-ipython3"><pre>x</pre></div>', "ipython3"),  # nbconvert
        ('<pre class="prettyprint linenums">x</pre>', ""),
        ('<pre class="prettyprint linenums lang-js">x</pre>', "js"),
        ('<pre class="screen">x</pre>', ""),
        ('<div class="go"><pre>x</pre></div>', ""),
    ],
)
def test_code_says_its_language(html: str, language: str) -> None:
    """A class name that is a language needs no prefix on code; on what is around it, it may mean anything."""
    assert markdown(html) == f"```{language}\nx\n```\n"
