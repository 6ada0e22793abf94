// What is shown of one route below its row: both sides, guard, ramp, differences, callers, history.

function overrideText(route) {
  const override = route.override;
  if (!override) return "";
  const why = override.reason ? `: ${override.reason}` : "";
  return `set to ${setting(override)} by ${override.by ?? "somebody"} at ${clock(override.at)}${why}; the file says `
    + setting({ stage: route.configured_stage, percent: route.configured_percent });
}

/** Calls that failed on one side, by what came of asking the other; null where that is not done. */
function fallbackText(route) {
  if (!route.fallback) return null;
  const lines = ["rest", "rpc"].flatMap((side) => {
    const outcomes = Object.entries(route.fallback[side] ?? {});
    if (!outcomes.length) return [];
    return [`after ${side} failed: ` + outcomes.map(([name, number]) => `${name.replaceAll("_", " ")} ${count(number)}`).join(", ")];
  });
  return lines.join("\n") || "no call yet";
}

/** A titled part of the panel that is hidden while it has nothing to say. */
function makePart(title, ...children) {
  return h("section", { class: "part" }, h("h3", {}, title), ...children);
}

/** Lines of a term and its value; a value of null hides the line. */
function makeFacts() {
  const element = h("dl", { class: "facts" });
  return {
    element,
    set(lines) {
      const shown = lines.filter(([, value]) => value !== null && value !== undefined && value !== "");
      syncList(element, shown, ([term]) => term, ([term]) => {
        const value = h("dd", {});
        return { element: h("div", {}, h("dt", {}, term), value), value };
      }, (view, [, value]) => setText(view.value, value));
    },
  };
}

function makeTable(heads, classes = []) {
  const body = h("tbody", {});
  const element = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": heads.join(", ") },
    h("table", { class: "small-table" }, h("thead", {}, h("tr", {}, ...heads.map((head, index) =>
      h("th", { scope: "col", class: classes[index] || null }, head)))), body));
  return {
    element,
    set(rows) {
      syncList(body, rows, (row) => row.key, () => textRow(classes), (view, row) => view.set(row.texts));
    },
  };
}

const SIDE_LINES = [
  ["calls", (side) => count(side.requests)],
  ["per second", (side) => rate(side.rate)],
  ["failures", (side) => `${count(side.failures)} (${share(side.error_rate)})`],
  ["clients' faults", (side) => count(side.client_errors)],
  ["p50", (side) => milliseconds(side.latency_ms?.p50)],
  ["p95", (side) => milliseconds(side.latency_ms?.p95)],
  ["p99", (side) => milliseconds(side.latency_ms?.p99)],
];

function makeDetails(view) {
  const actions = h("div", { class: "actions" });
  const facts = makeFacts();
  const sidesTable = makeTable(["", "rest", "rpc"], ["", "number", "number"]);
  const guard = makeFacts();
  const ramp = makeFacts();
  const shadow = makeFacts();
  const differences = makeTable(["field", "kind", "times"], ["mono break", "", "number"]);
  const samples = makeSamples(view);
  const dryRun = makeFacts();
  const restCallers = makeTable(["REST callers", "version", "calls", "last seen"], ["break", "", "number", "number"]);
  const rpcCallers = makeTable(["RPC callers", "version", "calls", "last seen"], ["break", "", "number", "number"]);
  const history = h("ol", { class: "history" });
  const parts = {
    sides: makePart("Both sides", sidesTable.element),
    route: makePart("Route", facts.element),
    guard: makePart("Guard", guard.element),
    ramp: makePart("Ramp", ramp.element),
    shadow: makePart("Comparison", shadow.element, differences.element, samples.element),
    dryRun: makePart("Dry run", dryRun.element),
    callers: makePart("Callers", restCallers.element, rpcCallers.element),
    history: makePart("History", history),
  };
  const element = h("div", { class: "panel" }, actions, h("div", { class: "parts" },
    h("div", {}, parts.sides, parts.callers),
    h("div", {}, parts.route, parts.guard, parts.ramp, parts.dryRun),
    h("div", {}, parts.shadow, parts.history)));

  const callerRows = (list) => (list ?? []).map((caller) => ({
    key: JSON.stringify([caller.agent, caller.version]),
    texts: [caller.agent || NONE, caller.version || NONE, count(caller.requests), ago(caller.last_seen, page.now)],
  }));

  function update(route) {
    syncList(actions, actionsOf(route), (action) => action.kind, (action) => {
      const button = h("button", { type: "button", class: action.class ?? null });
      button.addEventListener("click", () => openChange(view.route, action.kind));
      return { element: button };
    }, (one, action) => setText(one.element, action.text));

    const faces = (route.faces?.rest ?? []).map((face) => `${face.method} ${face.path}`);
    facts.set([
      ["REST face", faces.join("\n")],
      ["RPC face", route.faces?.rpc],
      ["backends", `rest: ${route.backends?.rest ?? "none"}, rpc: ${route.backends?.rpc ?? "none"}`],
      ["hosts", (route.hosts ?? []).join(", ")],
      ["the file says", setting({ stage: route.configured_stage, percent: route.configured_percent })],
      ["override", overrideText(route)],
      ["asked again", fallbackText(route)],
      ["calls since start", ["rest", "rpc", "none"].map((side) => `${side} ${count(route.calls?.[side])}`).join(", ")],
    ]);

    const { rest, rpc } = { rest: route.sides?.rest, rpc: route.sides?.rpc };
    setHidden(parts.sides, !rest && !rpc);
    sidesTable.set(SIDE_LINES.map(([name, text]) => ({
      key: name, texts: [name, rest ? text(rest) : NONE, rpc ? text(rpc) : NONE],
    })));

    setHidden(parts.guard, !route.guard);
    if (route.guard) guard.set(guardLines(route.guard));
    setHidden(parts.ramp, !route.ramp);
    if (route.ramp) ramp.set(rampLines(route.ramp));

    const compared = route.shadow;
    setHidden(parts.shadow, !compared);
    if (compared) {
      const skipped = Object.entries(compared.skipped ?? {}).map(([reason, number]) => `${reason} ${count(number)}`);
      shadow.set([
        ["the same", count(compared.match)], ["different", count(compared.mismatch)],
        ["copies that failed", count(compared.error)], ["not copied", skipped.join(", ")],
        ["unknown to the schema", (compared.unknown_legacy_fields ?? []).map(nameOfUnknown).join(", ")],
      ]);
      const list = compared.differences ?? [];
      setHidden(differences.element, list.length === 0);
      differences.set(list.map((one) => ({
        key: JSON.stringify([one.path, one.kind]), texts: [one.path || "(whole answer)", one.kind, count(one.count)],
      })));
    }
    samples.update(route);

    setHidden(parts.dryRun, !route.dry_run);
    if (route.dry_run) dryRun.set(Object.entries(route.dry_run).map(([name, value]) =>
      [name.replaceAll("_", " "), isNumber(value) ? count(value) : sampleValue(value)]));

    const [old, young] = [callerRows(route.callers?.rest), callerRows(route.callers?.rpc)];
    setHidden(parts.callers, old.length + young.length === 0);
    setHidden(restCallers.element, old.length === 0);
    setHidden(rpcCallers.element, young.length === 0);
    restCallers.set(old);
    rpcCallers.set(young);

    setHidden(parts.history, !(route.history?.length > 0));
    syncList(history, route.history ?? [], (entry) => JSON.stringify([entry.at, entry.to, entry.kind, entry.by]), () => {
      const [what, who] = [h("span", {}), h("span", { class: "dim" })];
      return { element: h("li", {}, what, who), what, who };
    }, (one, entry) => {
      setText(one.what, `${setting(entry.from)} → ${setting(entry.to)}`);
      const kind = entry.kind && entry.kind !== entry.by ? ` (${entry.kind})` : "";
      setText(one.who, `${clock(entry.at)}, ${entry.by || entry.kind || "unknown"}${entry.by ? kind : ""}`
        + `${entry.reason ? `: ${entry.reason}` : ""}`);
    });
  }
  return { element, update };
}

const nameOfUnknown = (field) =>
  typeof field === "string" ? field : `${field.path ?? sampleValue(field)}${isNumber(field.count) ? ` (${count(field.count)})` : ""}`;

const LIMITS = {
  max_error_rate: ["most errors", share], max_error_rate_ratio: ["most errors, to rest's", (value) => `× ${value}`],
  max_latency_ratio: ["slowest, to rest's", (value) => `× ${value}`], max_mismatch_rate: ["most that differ", share],
};

function guardLines(guard) {
  const limits = Object.entries(guard.limits ?? {}).map(([name, value]) => {
    const [words, text] = LIMITS[name] ?? [name.replaceAll("_", " "), String];
    return [words, text(value)];
  });
  const previous = guard.previous ? setting(guard.previous) : null;
  return [
    ["state", guard.state], ["why", guard.reason], ["at", guard.at ? clock(guard.at) : null],
    ["before", previous], ["window", isNumber(guard.window_seconds) ? seconds(guard.window_seconds) : null],
    ["judges from", isNumber(guard.min_requests) ? plural(guard.min_requests, "call") : null], ...limits,
  ];
}

function rampLines(ramp) {
  const steps = (ramp.steps ?? []).map((step, index) => (index === ramp.step ? `[${percent(step)}]` : percent(step)));
  return [
    ["steps", steps.join(" → ")], ["each", isNumber(ramp.every_seconds) ? seconds(ramp.every_seconds) : null],
    ["next", ramp.held ? "held" : ramp.next_at ? `in ${until(ramp.next_at, page.now)}` : null],
    ["waits for", ramp.waiting_for],
  ];
}
