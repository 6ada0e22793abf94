// One row of the table for each route; its details are built when they are opened.

function pair() {
  const [rest, rpc] = ["rest", "rpc"].map((side) => h("span", { class: `side ${side}` }));
  return {
    element: h("div", { class: "pair" }, rest, rpc),
    set(left, right, isWorse, what) {
      setText(rest, left);
      setText(rpc, right);
      setAttribute(rpc, "class", isWorse ? "side rpc worse" : "side rpc");
      setAttribute(this.element, "aria-label", `${what}: rest ${left}, rpc ${right}`);
      setAttribute(this.element, "role", "group");
    },
  };
}

/** Badges behind the stage: what is true besides. */
function marksOf(route) {
  const marks = [];
  if (route.override) marks.push({ key: "override", kind: "info", text: "override", title: overrideText(route) });
  const guard = route.guard;
  if (guard?.state === "tripped") marks.push({ key: "guard", kind: "bad", text: "guard tripped", title: guard.reason });
  else if (guard?.state === "alerting") marks.push({ key: "guard", kind: "warn", text: "guard warns", title: guard.reason });
  else if (guard?.state === "holding") marks.push({ key: "guard", kind: "warn", text: "guard holds", title: guard.reason });
  else if (guard) marks.push({ key: "guard", kind: "good", text: "guarded", title: "the guard is content" });
  const ramp = route.ramp;
  if (ramp?.held) marks.push({ key: "ramp", kind: "warn", text: "ramp held" });
  else if (ramp && ramp.next_at) marks.push({ key: "ramp", kind: "info", text: "ramping" });
  return marks;
}

function makeMark() {
  const element = h("li", {});
  return { element };
}

function updateMark(view, mark) {
  setAttribute(view.element, "class", `mark ${mark.kind}`);
  setAttribute(view.element, "title", mark.title ?? null);
  setText(view.element, mark.text);
}

function makeRow(route) {
  const procedure = route.procedure;
  const id = `route-${(makeRow.made = (makeRow.made ?? 0) + 1)}`;
  const parts = {
    face: h("span", { class: "face mono" }),
    badge: h("span", { class: "badge" }),
    meter: h("span", { class: "meter", "aria-hidden": "true" }, h("i", {})),
    marks: h("ul", { class: "marks" }),
    rate: h("td", { class: "number", role: "cell", "data-label": "calls/s" }),
    errors: pair(),
    latency: pair(),
    differ: h("td", { class: "number", role: "cell", "data-label": "differ" }),
  };
  const toggle = h("button", { type: "button", class: "toggle", "aria-expanded": "false", "aria-controls": id, "data-procedure": procedure },
    h("span", { class: "chevron", "aria-hidden": "true" }),
    h("span", { class: "names" },
      h("span", { class: "method" }, methodOf(procedure)), h("span", { class: "service dim", title: serviceOf(procedure) }, serviceOf(procedure))));
  const move = h("button", { type: "button", class: "move", "aria-label": `Move ${methodOf(procedure)}` }, "Move…");
  const row = h("tr", { role: "row", class: "route" },
    h("td", { role: "cell", class: "name-cell" }, toggle, parts.face),
    h("td", { role: "cell", class: "stage-cell" }, h("span", { class: "stage-line" }, parts.badge, parts.meter), parts.marks),
    parts.rate,
    h("td", { class: "number", role: "cell", "data-label": "errors" }, parts.errors.element),
    h("td", { class: "number", role: "cell", "data-label": "p95" }, parts.latency.element),
    parts.differ,
    h("td", { role: "cell", class: "action-cell" }, move));
  const cell = h("td", { colspan: "7", role: "cell", id });
  const detailRow = h("tr", { role: "row", class: "detail", hidden: true }, cell);
  const view = { row, detailRow, cell, toggle, parts, details: null, route };
  toggle.addEventListener("click", () => toggleDetails(view));
  move.addEventListener("click", () => openChange(view.route, "move"));
  return view;
}

function toggleDetails(view, isOpen = view.detailRow.hidden) {
  setHidden(view.detailRow, !isOpen);
  setAttribute(view.toggle, "aria-expanded", isOpen ? "true" : "false");
  setAttribute(view.row, "data-open", isOpen ? "true" : null);
  if (!isOpen) return;
  if (!view.details) {
    view.details = makeDetails(view);
    view.cell.append(view.details.element);
  }
  view.details.update(view.route);
}

function updateRow(view, route) {
  view.route = route;
  const { parts, row } = view;
  const faces = route.faces?.rest ?? [];
  const more = faces.length > 1 ? `  +${faces.length - 1}` : "";
  const face = faces.length ? `${faces[0].method} ${faces[0].path}${more}` : "no REST binding";
  setText(parts.face, face);
  setAttribute(parts.face, "title", face);
  setText(parts.badge, setting(effective(route)));
  setAttribute(parts.badge, "class", `badge ${STAGES.includes(route.stage) ? route.stage : ""}`);
  parts.meter.firstChild.style.width = `${movedShare(route) * 100}%`;
  setHidden(parts.meter, route.stage !== "canary");
  syncList(parts.marks, marksOf(route), (mark) => mark.key, makeMark, updateMark);
  setText(parts.rate, rate(rateOf(route)));
  const { rest, rpc } = { rest: route.sides?.rest, rpc: route.sides?.rpc };
  const isWorse = (left, right, factor, least) => isNumber(right) && right > least && right > (left ?? 0) * factor;
  parts.errors.set(
    share(rest?.error_rate), share(rpc?.error_rate), isWorse(rest?.error_rate, rpc?.error_rate, 1.5, 0.005), "error rate");
  const [slow, slower] = [rest?.latency_ms?.p95, rpc?.latency_ms?.p95];
  parts.latency.set(milliseconds(slow), milliseconds(slower), isNumber(slow) && isWorse(slow, slower, 2, 20), "p95 latency");
  const differ = differing(route);
  setText(parts.differ, differ === null ? NONE : count(differ));
  setAttribute(parts.differ, "class", differsNow(route) ? "number worse" : "number");
  setAttribute(row, "data-attention", attention(route).length > 0 ? "true" : null);
  if (!view.detailRow.hidden) view.details.update(route);
}
