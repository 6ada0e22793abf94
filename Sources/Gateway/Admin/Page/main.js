// The state of the page, and the asking: every two seconds, slower while it fails, hardly while nobody looks.

const INTERVAL = 2000;
const LONGEST = 30_000;

const page = {
  routes: [], views: new Map(), order: [], now: Date.now(), skew: 0, show: "all", filter: "", sort: "name",
  lastGood: null, failures: 0, timer: null, asking: null, problem: "", status: 200,
};

function matchesView(route) {
  if (page.show === "attention" ? attention(route).length === 0 : page.show !== "all" && route.stage !== page.show) return false;
  return page.filter.split(/\s+/).every((word) => haystack(route).includes(word));
}

/** Sorts anew: when somebody asks for it, or when there are other routes; never because a figure moved. */
function arrange() {
  const compare = ORDERS[page.sort];
  const sorted = [...page.routes].sort((left, right) => compare(left, right) || byName(left, right));
  page.order = sorted.map((route) => route.procedure);
  for (const head of document.querySelectorAll("th [data-sort]")) {
    const isThis = head.dataset.sort === page.sort;
    setAttribute(head.closest("th"), "aria-sort", isThis ? (["name", "stage"].includes(page.sort) ? "ascending" : "descending") : null);
  }
  if (byId("sort").value !== page.sort) byId("sort").value = page.sort;
}

function render() {
  const byProcedure = new Map(page.routes.map((route) => [route.procedure, route]));
  const known = new Set(page.order);
  if (page.order.length !== byProcedure.size || page.routes.some((route) => !known.has(route.procedure))) arrange();
  const body = byId("rows");
  for (const [procedure, view] of page.views) {
    if (byProcedure.has(procedure)) continue;
    view.row.remove();
    view.detailRow.remove();
    page.views.delete(procedure);
  }
  let place = body.firstElementChild;
  let shown = 0;
  for (const procedure of page.order) {
    const route = byProcedure.get(procedure);
    let view = page.views.get(procedure);
    if (!view) page.views.set(procedure, (view = makeRow(route)));
    for (const element of [view.row, view.detailRow]) {
      if (element === place) place = place.nextElementSibling;
      else body.insertBefore(element, place);
    }
    const isShown = matchesView(route);
    setHidden(view.row, !isShown);
    if (!isShown && !view.detailRow.hidden) toggleDetails(view, false);
    view.route = route;
    if (isShown) { updateRow(view, route); shown += 1; }
  }
  setText(byId("count"), shown === page.routes.length ? plural(shown, "route") : `${shown} of ${page.routes.length}`);
  const needing = page.routes.filter((route) => attention(route).length > 0).length;
  setText(byId("attention-count"), needing ? String(needing) : "");
  // In a tab behind others, the title is all that is seen.
  document.title = needing ? `(${needing}) Turnout` : "Turnout";
  setHidden(byId("empty"), shown > 0);
  setText(byId("empty"), page.routes.length ? emptyText() : page.lastGood ? "The configuration describes no route: all goes to its fallback." : "Asking the gateway…");
  updateSummary(page.routes);
  if (byId("change").open) updateChange();
}

function emptyText() {
  if (page.filter) return `No route${page.show === "all" ? "" : " that is shown"} matches “${page.filter}”.`;
  return page.show === "attention" ? "Nothing needs attention." : `No route is in stage ${page.show}.`;
}

function renderLive() {
  const live = byId("live");
  const isStale = page.failures > 0;
  setAttribute(live, "data-state", isStale ? "stale" : page.lastGood ? "live" : "starting");
  setAttribute(document.body, "data-stale", isStale && page.lastGood ? "true" : null);
  setText(byId("live-text"), isStale ? (page.lastGood ? `stale since ${clock(page.lastGood)}` : "no answer") : page.lastGood ? "live" : "connecting…");
  const banner = byId("banner");
  const figures = page.lastGood ? " The figures below are old." : "";
  // One failure can be a moment's; the second is said.
  setHidden(banner, page.failures < (page.lastGood ? 2 : 1));
  setText(byId("banner-text"), banner.hidden ? "" : `No fresh figures: ${page.problem}.${figures} It is tried again by itself.`);
  setHidden(byId("banner-token"), page.status !== 401);
}

function refresh() {
  page.asking ??= ask().finally(() => { page.asking = null; schedule(); });
  return page.asking;
}

async function ask() {
  try {
    const answer = await request("GET", "/routes");
    const routes = (answer.routes ?? []).filter((route) => typeof route?.procedure === "string");
    const isFirst = page.lastGood === null;
    const changes = isFirst ? [] : changesBetween(page.routes, routes);
    page.now = Number.isNaN(Date.parse(answer.now ?? "")) ? Date.now() : Date.parse(answer.now);
    if (page.failures > 1 && !isFirst) changes.unshift("The gateway answers again");
    Object.assign(page, { routes, failures: 0, problem: "", status: 200, lastGood: new Date().toISOString() });
    setText(byId("replica"), answer.replica ?? location.host);
    updateAudit(routes);
    updateConfig(answer.config, answer.warnings);
    if (isFirst) arrange();
    render();
    changes.forEach(announce);
  } catch (error) {
    page.failures += 1;
    page.problem = error.message;
    page.status = error.status ?? 0;
    if (!(error instanceof RequestError)) console.error(error);
    // Once by itself; who has cancelled it finds a button.
    if (error.status === 401 && page.failures === 1) giveToken();
  }
  renderLive();
}

async function giveToken() {
  if (await askForToken(token.get() !== "")) await refresh();
}

function schedule() {
  clearTimeout(page.timer);
  const slowed = page.failures ? Math.min(LONGEST, INTERVAL * 2 ** Math.min(page.failures, 5)) : INTERVAL;
  page.timer = setTimeout(refresh, document.hidden ? LONGEST : slowed);
}

function show(what) {
  page.show = what;
  for (const chip of document.querySelectorAll("[data-show]")) {
    setAttribute(chip, "aria-pressed", chip.dataset.show === what ? "true" : "false");
  }
  render();
}

function sortBy(what) {
  page.sort = what;
  arrange();
  render();
}

function wire() {
  for (const chip of document.querySelectorAll("[data-show]")) chip.addEventListener("click", () => show(chip.dataset.show));
  for (const head of document.querySelectorAll("[data-sort]")) head.addEventListener("click", () => sortBy(head.dataset.sort));
  byId("sort").addEventListener("change", (event) => sortBy(event.target.value));
  byId("filter").addEventListener("input", (event) => { page.filter = event.target.value.trim().toLowerCase(); render(); });
  document.addEventListener("visibilitychange", () => (document.hidden ? schedule() : refresh()));
  byId("banner-token").addEventListener("click", giveToken);
  byId("banner-retry").addEventListener("click", refresh);
  wireAudit();
  wireChange();
  wireToken();
  wireKeyboard();
}

wire();
refresh();
