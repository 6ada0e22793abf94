// The head of the page: how far the move has come, what needs attention, and who still calls the old face.

function setBar(bar, parts) {
  const total = parts.reduce((sum, part) => sum + part.value, 0);
  const shown = parts.filter((part) => part.value > 0);
  syncList(bar, shown, (part) => part.name, (part) => ({ element: h("i", { class: part.name }) }),
    (view, part) => { view.element.style.width = `${(part.value / total) * 100}%`; });
  setAttribute(bar, "aria-label", shown.map((part) => part.text).join(", ") || "nothing yet");
}

function updateSummary(routes) {
  const byStage = STAGES.map((stage) => ({ name: stage, value: routes.filter((route) => route.stage === stage).length }));
  const moved = byStage[3].value;
  setText(byId("moved-routes"), routes.length ? `${moved} of ${routes.length}` : NONE);
  setText(byId("moved-routes-of"), `${routes.length === 1 ? "route" : "routes"} moved`);
  setBar(byId("bar-routes"), byStage.map((part) => ({ ...part, text: `${part.name}: ${plural(part.value, "route")}` })));

  const windowed = (side) => routes.reduce((sum, route) => sum + (route.sides?.[side]?.requests ?? 0), 0);
  const total = (side) => routes.reduce((sum, route) => sum + (route.calls?.[side] ?? 0), 0);
  let [rest, rpc, words] = [windowed("rest"), windowed("rpc"), "of recent calls answered by RPC"];
  if (rest + rpc === 0) [rest, rpc, words] = [total("rest"), total("rpc"), "of calls since the start answered by RPC"];
  setText(byId("moved-calls"), rest + rpc > 0 ? share(rpc / (rest + rpc)) : routes.length ? "no calls yet" : NONE);
  setText(byId("moved-calls-of"), rest + rpc > 0 ? words : routes.length ? "" : "of calls answered by RPC");
  setBar(byId("bar-calls"), [
    { name: "rest", value: rest, text: `rest: ${count(rest)} calls` }, { name: "rpc", value: rpc, text: `rpc: ${count(rpc)} calls` },
  ]);

  const rates = routes.map(rateOf).filter(isNumber);
  setText(byId("tile-rate"), rates.length ? rate(rates.reduce((sum, one) => sum + one, 0)) : NONE);
  const guarded = routes.filter((route) => route.guard);
  const tripped = guarded.filter((route) => route.guard.state === "tripped").length;
  setText(byId("tile-guard"), guarded.length ? `${tripped} of ${guarded.length}` : NONE);
  setAttribute(byId("tile-guard-box"), "class", tripped > 0 ? "card tile bad" : "card tile");
  const compared = routes.filter((route) => route.shadow);
  const differ = compared.reduce((sum, route) => sum + (route.shadow.mismatch ?? 0), 0);
  const same = compared.reduce((sum, route) => sum + (route.shadow.match ?? 0), 0);
  setText(byId("tile-differences"), differ + same > 0 ? `${count(differ)} of ${count(differ + same)}` : NONE);
  setAttribute(byId("tile-differences-box"), "class", compared.some(differsNow) ? "card tile warn" : "card tile");
  updateCallers(legacyCallers(routes));
}

function updateCallers(callers) {
  setText(byId("tile-callers"), callers.length ? count(callers.length) : "none");
  setHidden(byId("callers-section"), callers.length === 0);
  syncList(byId("callers"), callers.slice(0, 50), (caller) => caller.key,
    () => textRow(["break", "break", "number", "break", ""]),
    (view, caller) => {
      const names = caller.routes.length > 3 ? `${caller.routes.slice(0, 3).join(", ")} and ${caller.routes.length - 3} more` : caller.routes.join(", ");
      view.set([caller.agent || "(not named)", caller.version || NONE, count(caller.requests), names, ago(caller.seen, page.now)]);
    });
}
