// The console: which page is shown, and the state of the broker above it.
import { render } from "./vendor/htm-preact.mjs";
import { Live } from "./pages/live.js";
import { Network } from "./pages/network.js";
import { Why } from "./pages/why.js";
import { Workbench } from "./pages/workbench.js";
import { html, useEffect, usePolled, useState } from "./parts.js";

const PAGES = {
  network: ["Network", Network],
  workbench: ["Workbench", Workbench],
  live: ["Live", Live],
  why: ["Why not", Why],
};

const chosen = () => location.hash.replace(/^#\/?/, "") || "network";

function App() {
  const [page, setPage] = useState(chosen());
  useEffect(() => {
    const change = () => setPage(chosen());
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  const { value, error } = usePolled("/readyz", 2000);
  const [, Page] = PAGES[page] || PAGES.network;
  const state = error ? html`<span class="bad">not reached</span>`
    : !value ? "…"
    : value.ready ? html`<span class="good">● ready</span>`
    : html`<span class="bad">○ not ready${value.missing?.length ? `: ${value.missing.length} link missing` : ""}</span>`;
  return html`
    <header>
      <h1>Siena</h1>
      <nav aria-label="Pages">
        ${Object.entries(PAGES).map(([name, [title]]) => html`
          <a href="#/${name}" aria-current=${name === page ? "page" : null}>${title}</a>`)}
      </nav>
      <span class="state" role="status">${value?.broker || ""} ${state}</span>
    </header>
    <main><${Page} /></main>`;
}

render(html`<${App} />`, document.getElementById("app"));
