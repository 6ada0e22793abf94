// What /routes says, read with care: every part may be missing.

const STAGES = ["rest", "shadow", "canary", "rpc"];

const methodOf = (procedure) => procedure.slice(procedure.lastIndexOf("/") + 1);
const serviceOf = (procedure) => procedure.slice(0, Math.max(0, procedure.lastIndexOf("/")));

/** The setting that answers now. */
const effective = (route) => ({ stage: route.stage, percent: route.percent });

/** How much of a route's callers the RPC side answers, 0 to 1. */
function movedShare(route) {
  if (route.stage === "rpc") return 1;
  return route.stage === "canary" && isNumber(route.percent) ? route.percent / 100 : 0;
}

const sides = (route) => [route.sides?.rest, route.sides?.rpc].filter(Boolean);

function rateOf(route) {
  const found = sides(route).map((side) => side.rate).filter(isNumber);
  return found.length ? found.reduce((sum, one) => sum + one, 0) : null;
}

function callsOf(route) {
  return ["rest", "rpc", "none"].reduce((sum, side) => sum + (route.calls?.[side] ?? 0), 0);
}

const worst = (values) => values.filter(isNumber).reduce((most, one) => Math.max(most, one), -1);

function differing(route) {
  const shadow = route.shadow;
  return shadow ? (shadow.mismatch ?? 0) : null;
}

/** Whether answers differed within the last quarter of an hour; what differed before may be mended. */
function differsNow(route) {
  if (!((route.shadow?.mismatch ?? 0) > 0)) return false;
  const last = Date.parse(route.shadow.last_mismatch ?? "");
  return Number.isNaN(last) || page.now - last < 15 * 60_000;
}

/** Why somebody should look at a route, and what to do; empty when nobody has to. */
function attention(route) {
  const notices = [];
  const { guard, shadow, ramp } = route;
  const why = guard?.reason ?? "no reason is known";
  if (guard?.state === "tripped") {
    const before = guard.previous ? ` Find the cause, then set ${setting(guard.previous)} again.` : "";
    notices.push({ key: "guard", kind: "bad", text: `The guard has taken this route back: ${why}.${before}` });
  }
  if (guard?.state === "alerting") notices.push({ key: "guard", kind: "warn", text: `The guard warns: ${why}.` });
  if (guard?.state === "holding") notices.push({ key: "guard", kind: "warn", text: `The guard holds the ramp: ${why}.` });
  if (differsNow(route)) {
    const most = (shadow.differences ?? [])[0];
    const place = most ? `, most at ${nameOfField(most.path)} (${most.kind})` : "";
    const all = shadow.mismatch + (shadow.match ?? 0);
    const last = shadow.last_mismatch ? `, the last ones ${ago(shadow.last_mismatch, page.now)}` : "";
    notices.push({ key: "differ", kind: "warn", text: `${count(shadow.mismatch)} of ${count(all)} compared answers differ${place}${last}.` });
  }
  if (ramp?.held && guard?.state !== "holding") notices.push({ key: "held", kind: "warn", text: "The ramp is held: somebody has to let it go on." });
  return notices;
}

/** Who changes a route besides people, in words. */
const ORIGINS = { file: "the configuration", admin: "the admin endpoint", guard: "the guard", ramp: "the ramp", peer: "another replica" };
const originOf = (kind) => (Object.hasOwn(ORIGINS, kind ?? "") ? ORIGINS[kind] : kind || "unknown");

/** Who changed something: `10.0.0.7`, `the guard`, `replica b:9901`. */
function whoChanged(kind, actor) {
  if (kind === "peer" && actor) return `replica ${actor}`;
  return actor || originOf(kind);
}

/** What a change did: `rest → canary 5 %`, `ramp held at canary 5 %`. */
function whatChanged(entry) {
  if (entry.action === "held") return `ramp held at ${setting(entry.to)}`;
  if (entry.action === "released") return `ramp goes on from ${setting(entry.to)}`;
  return `${setting(entry.from)} → ${setting(entry.to)}`;
}

/** The callers of the REST face of routes that the RPC side answers, merged over those routes. */
function legacyCallers(routes) {
  const found = new Map();
  for (const route of routes) {
    if (route.stage !== "rpc") continue;
    for (const caller of route.callers?.rest ?? []) {
      const key = JSON.stringify([caller.agent, caller.version]);
      const one = found.get(key) ?? { key, agent: caller.agent, version: caller.version, requests: 0, routes: [], seen: "" };
      one.requests += caller.requests ?? 0;
      one.routes.push(methodOf(route.procedure));
      if (String(caller.last_seen ?? "") > one.seen) one.seen = caller.last_seen;
      found.set(key, one);
    }
  }
  return [...found.values()].sort((left, right) => right.requests - left.requests);
}

/** What of a route can be searched for, in lower case. */
function haystack(route) {
  const paths = (route.faces?.rest ?? []).map((face) => `${face.method} ${face.path}`);
  return [route.procedure, ...paths, route.backends?.rest, route.backends?.rpc, ...(route.hosts ?? [])]
    .filter(Boolean).join("\n").toLowerCase();
}

const byName = (left, right) => (left.procedure < right.procedure ? -1 : left.procedure > right.procedure ? 1 : 0);

const ORDERS = {
  name: byName,
  stage: (left, right) => STAGES.indexOf(left.stage) - STAGES.indexOf(right.stage) || movedShare(left) - movedShare(right),
  rate: (left, right) => (rateOf(right) ?? -1) - (rateOf(left) ?? -1) || callsOf(right) - callsOf(left),
  errors: (left, right) =>
    worst(sides(right).map((side) => side.error_rate)) - worst(sides(left).map((side) => side.error_rate)),
  latency: (left, right) =>
    worst(sides(right).map((side) => side.latency_ms?.p95)) - worst(sides(left).map((side) => side.latency_ms?.p95)),
  differences: (left, right) => (differing(right) ?? -1) - (differing(left) ?? -1),
};

/** What happened between two answers of /routes, in words. */
function changesBetween(before, after) {
  const old = new Map(before.map((route) => [route.procedure, route]));
  const said = [];
  for (const route of after) {
    const earlier = old.get(route.procedure);
    if (!earlier) continue;
    const name = methodOf(route.procedure);
    const [from, to] = [setting(effective(earlier)), setting(effective(route))];
    if (route.guard?.state === "tripped" && earlier.guard?.state !== "tripped") {
      said.push(`The guard has taken ${name} back to ${to}: ${route.guard.reason ?? ""}`);
    } else if (from !== to) {
      said.push(`${name} went from ${from} to ${to}`);
    }
    if (route.ramp && earlier.ramp && route.ramp.held !== earlier.ramp.held) {
      said.push(route.ramp.held ? `The ramp of ${name} is held` : `The ramp of ${name} goes on`);
    }
  }
  return said.length > 4 ? [...said.slice(0, 3), `and ${said.length - 3} more changes`] : said;
}
