// The last changes of all routes: who or what, when, from where to where, and why. Asked for when a route has a new one.

const AUDIT_SHORT = 8;

const audit = { changes: [], total: 0, known: null, isAsking: false, isLong: false };

/** What tells that there is something new: the newest change of each route, which /routes has. */
const newestChanges = (routes) => JSON.stringify(routes.map((route) => [route.procedure, route.history?.[0] ?? null]));

async function updateAudit(routes) {
  const newest = newestChanges(routes);
  if (audit.isAsking || newest === audit.known) return renderAudit();
  audit.isAsking = true;
  try {
    const answer = await request("GET", "/audit");
    Object.assign(audit, { changes: answer.changes ?? [], total: answer.total ?? 0, known: newest });
    renderAudit();
  } catch {
    // That the gateway does not answer is said at the top; it is asked again with the next figures.
  } finally {
    audit.isAsking = false;
  }
}

function renderAudit() {
  if (audit.known === null) return;
  const { changes } = audit;
  setHidden(byId("audit-section"), false);
  setHidden(byId("audit-empty"), changes.length > 0);
  setText(byId("audit-count"), audit.total > changes.length ? `the last ${count(changes.length)} of ${count(audit.total)}` : "");
  const shown = audit.isLong ? changes : changes.slice(0, AUDIT_SHORT);
  // Two changes of one moment differ in what they say, or are one line.
  syncList(byId("audit"), shown, (change) => JSON.stringify(change), makeAuditLine, updateAuditLine);
  const more = byId("audit-more");
  setHidden(more, changes.length <= AUDIT_SHORT);
  setText(more, audit.isLong ? "Show fewer" : `Show all ${count(changes.length)}`);
  setAttribute(more, "aria-expanded", audit.isLong ? "true" : "false");
}

function makeAuditLine(change) {
  const time = h("time", { class: "dim", datetime: change.time });
  const what = h("span", { class: "audit-what" },
    h("strong", { title: change.procedure }, methodOf(String(change.procedure ?? ""))), " ", h("span", {}, whatChanged(change)));
  const who = h("span", { class: `audit-who ${change.kind === "guard" ? "bad" : ""}` }, whoChanged(change.kind, change.actor));
  const why = h("span", { class: "audit-why dim" }, change.reason || "no reason given");
  const agent = change.agent ? `${change.agent}${change.token ? ", with the token" : ""}` : originOf(change.kind);
  setAttribute(who, "title", agent);
  return { element: h("li", {}, time, what, who, why), time };
}

function updateAuditLine(line, change) {
  // The date comes in with the next day.
  setText(line.time, clock(change.time));
}

function wireAudit() {
  byId("audit-more").addEventListener("click", () => { audit.isLong = !audit.isLong; renderAudit(); });
}
