// The console: which page is shown, who is there, and the state of the broker above it.
import { html, render, useEffect, useState } from "./vendor/htm-preact.mjs";
import { ask, hasToken, onSignInWanted, signIn, signOut, usePolled } from "./parts/asking.js";
import { Access } from "./pages/access.js";
import { Durable } from "./pages/durable.js";
import { Interests } from "./pages/interests.js";
import { Live } from "./pages/live.js";
import { Network } from "./pages/network.js";
import { Why } from "./pages/why.js";
import { Workbench } from "./pages/workbench.js";

const PAGES = {
  network: ["Network", Network],
  interests: ["Interests", Interests],
  workbench: ["Workbench", Workbench],
  why: ["Why not", Why],
  live: ["Live", Live],
  durable: ["Durable", Durable],
  access: ["Access", Access],
};

const chosen = () => {
  const name = location.hash.replace(/^#\/?/, "").split("?")[0];
  return Object.hasOwn(PAGES, name) ? name : "network";
};

function App() {
  const [page, setPage] = useState(chosen());
  const [isAsked, setAsked] = useState(false);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const change = () => { setPage(chosen()); document.getElementById("page")?.focus(); };
    addEventListener("hashchange", change);
    const end = onSignInWanted((wanted) => { setAsked(wanted); if (!wanted) setTurn((last) => last + 1); });
    return () => { removeEventListener("hashchange", change); end(); };
  }, []);
  const [title, Page] = PAGES[page];
  useEffect(() => {
    document.title = `${title} · Siena`;
    document.querySelector("nav [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
  }, [title]);
  return html`
    <a class="skip" href="#page" onClick=${(event) => { event.preventDefault(); document.getElementById("page").focus(); }}>to the page</a>
    <header>
      <span class="brand"><img src="icon.svg" alt="" width="26" height="26" />Siena</span>
      <nav aria-label="Pages">
        ${Object.entries(PAGES).map(([name, [text]]) => html`
          <a href="#/${name}" aria-current=${name === page ? "page" : null}>${text}</a>`)}
      </nav>
      <${State} key=${turn} isAsked=${isAsked} />
    </header>
    <main id="page" tabindex="-1">${isAsked ? html`<${SignIn} />` : html`<${Page} key=${`${page} ${turn}`} />`}</main>`;
}

function State({ isAsked }) {
  const { value, error } = usePolled("/readyz", 2000);
  const [me, setMe] = useState(null);
  useEffect(() => { ask("/api/me").then(setMe, () => setMe(null)); }, []);
  const missing = value?.missing?.length || 0;
  const [tone, text] = error ? ["bad", "not reached"] : !value ? ["soft", "…"] : value.ready ? ["good", "ready"]
    : ["bad", missing ? `${missing} ${missing === 1 ? "link" : "links"} missing` : "not ready"];
  return html`<span class="state"><span role="status"><b>${me?.broker || value?.broker || ""}</b> <i class="dot ${tone}"></i><span class=${tone}>${text}</span></span>
    ${me?.asking && !isAsked && html`<span class="soft">as ${me.identity}</span>`}
    ${hasToken() && !isAsked && html`<button class="link" onClick=${signOut}>sign out</button>`}</span>`;
}

function SignIn() {
  const [text, setText] = useState("");
  const [error, setError] = useState("");
  const enter = async (event) => {
    event.preventDefault();
    try {
      await signIn(text);
    } catch (problem) {
      setError(problem.message);
    }
  };
  return html`<section class="signin"><h1>Who is there?</h1>
    <p>This broker asks. Paste a token (<code>siena token</code> makes one), or <code>NAME:PASSWORD</code>.
      It stays in the memory of this page, and is gone when you close it.</p>
    <form onSubmit=${enter}>
      <label for="token">Token</label>
      <input id="token" type="password" autocomplete="off" value=${text} onInput=${(event) => setText(event.target.value)} required />
      <button class="go" type="submit">Enter</button>
    </form>
    ${error && html`<p class="problem" role="alert">${error}</p>`}</section>`;
}

render(html`<${App} />`, document.getElementById("app"));
