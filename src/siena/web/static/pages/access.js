// Who one is here, what the roles grant, and who may see something.
import { html, useState } from "../vendor/htm-preact.mjs";
import { useAnswer, usePolled } from "../parts/asking.js";
import { Empty, Mistake, number, plural, Problem, Wide } from "../parts/shown.js";

export function Access() {
  const me = usePolled("/api/me", 10000);
  const roles = usePolled("/api/access", 10000);
  if (!me.value) return html`<h1>Access</h1><${Problem} error=${me.error} />`;
  return html`<h1>Access</h1><${Me} me=${me.value} />
    ${roles.status === 403 ? html`<p class="soft">The roles of others are for those who may inspect <code>access</code>.</p>` : html`<${Problem} error=${roles.error} />`}
    ${roles.value && html`<${Who} isAsking=${me.value.asking} /><${Roles} value=${roles.value} isAsking=${me.value.asking} />`}`;
}

function Me({ me }) {
  if (!me.asking) {
    return html`<${Empty}>This broker asks nobody who they are, and everybody who reaches it may do everything. It listens on this machine only, unless told otherwise;${" "}
      <code>[access]</code> in its settings changes that.<//>`;
  }
  return html`<section class="panel"><h2>You are ${me.identity || "a stranger"} ${me.roles.map((role) => html`<span class="badge">${role}</span> `)}</h2>
    ${me.unlimited ? html`<p>Everything is granted to you.</p>` : html`<dl class="facts">
      <dt>publish</dt><dd><code>${me.publish}</code></dd><dt>subscribe</dt><dd><code>${me.subscribe}</code></dd><dt>inspect</dt><dd><code>${me.inspect}</code></dd>
      ${me.caveats.length > 0 && html`<dt>narrowed to</dt><dd>${me.caveats.map((text) => html`<code>${text}</code> `)}</dd>`}</dl>`}
    ${me.expires_at && html`<p class="soft">until ${new Date(me.expires_at * 1000).toLocaleString("en")}</p>`}
    <p class="soft">The pages show what you may subscribe to; of other clients' filters, names and notifications the rest is left out.</p></section>`;
}

function Who({ isAsking }) {
  const [text, setText] = useState("");
  const [verb, setVerb] = useState("subscribe");
  const [asked, setAsked] = useState(null);
  const { value, error } = useAnswer("/api/who", asked);
  return html`<section class="panel"><h2>Who may see this?</h2>
    <form class="row" onSubmit=${(event) => { event.preventDefault(); setAsked({ notification: text, verb }); }}>
      <div class="field narrow"><label for="verb">Who may</label><select id="verb" value=${verb} onChange=${(event) => setVerb(event.target.value)}>
        <option value="subscribe">see it</option><option value="publish">publish it</option></select></div>
      <div class="field"><label for="seen">A notification, as text or JSON</label>
        <input id="seen" value=${text} onInput=${(event) => setText(event.target.value)} placeholder="tenant = a, level = 2" spellcheck=${false} autocapitalize="off" /></div>
      <button class="go" type="submit">Ask</button></form>
    <${Problem} error=${error} /><${Mistake} text=${asked?.notification || ""} said=${value} />
    ${value?.roles && html`<div role="status">
      ${value.roles.length ? html`<ul class="lines">${value.roles.map((each) => html`<li><span class="good" aria-hidden="true">✓</span> <b>${each.role}</b>
        ${Object.entries(each.as).map(([name, what]) => html` <span class="soft">if ${name} is</span> <code>${what}</code>`)}</li>`)}</ul>`
    : html`<p>${isAsking ? "No role may." : "There are no roles: everybody may."}</p>`}
      <p class="soft">${value.clients.length ? html`Of those who are here: ${value.clients.join(", ")}.` : "Nobody of those who are here."}</p></div>`}</section>`;
}

function Roles({ value, isAsking }) {
  if (!value.roles.length) return isAsking ? html`<${Empty}>There are no roles: a credential is enough for everything.<//>` : null;
  const texts = (list) => (list.length ? list.map((text) => html`<div><code>${text}</code></div>`) : html`<span class="soft">—</span>`);
  return html`<h2>Roles <span class="soft">${number(value.count)}</span></h2>
    ${value.findings.map((text) => html`<p class="warning">${text}</p>`)}
    <${Wide} label="Roles"><table><thead><tr><th>role</th><th>publish</th><th>subscribe</th><th>inspect</th><th>beyond that</th></tr></thead>
      <tbody>${value.roles.map((role) => html`<tr><td><b>${role.name}</b>${role.hold && html`<div class="soft">may hold publishers</div>`}</td>
        <td>${texts(role.publish)}</td><td>${texts(role.subscribe)}</td><td>${texts(role.inspect)}</td><td>${role.beyond === "narrow" ? "narrowed" : "refused"}</td></tr>`)}</tbody></table><//>
    ${value.refusals.length > 0 && html`<h2>What was refused</h2><ul class="lines">${value.refusals.map((each) => html`<li>${each.verb} to <b>${each.roles}</b> <span class="soft">${plural(each.count, "time")}</span></li>`)}</ul>`}`;
}
