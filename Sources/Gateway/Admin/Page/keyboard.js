// Single keys. They can be turned off, for those whose tools type (WCAG 2.1.4).

const SHORTCUTS_KEY = "turnout-shortcuts";

function shortcutsAreOn() {
  try { return localStorage.getItem(SHORTCUTS_KEY) !== "off"; } catch { return true; }
}

const toggles = () => [...document.querySelectorAll("#rows .toggle")].filter((one) => one.offsetParent !== null);

/** The route whose row or details have the focus. */
function focusedView() {
  const focused = document.activeElement;
  return [...page.views.values()].find((view) => view.row.contains(focused) || view.detailRow.contains(focused)) ?? null;
}

function step(direction) {
  const all = toggles();
  if (all.length === 0) return;
  const at = all.indexOf(focusedView()?.toggle);
  const next = at < 0 ? (direction > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + direction));
  all[next].focus();
  all[next].scrollIntoView({ block: "nearest" });
}

function onRoute(kinds) {
  const view = focusedView();
  const action = view && actionsOf(view.route).find((one) => kinds.includes(one.kind));
  if (action) openChange(view.route, action.kind);
}

const KEYS = {
  "/": () => byId("filter").focus(),
  "?": () => openHelp(),
  j: () => step(1),
  k: () => step(-1),
  m: () => onRoute(["move"]),
  s: () => onRoute(["again"]),
  b: () => onRoute(["back"]),
  h: () => onRoute(["hold", "resume"]),
  c: () => onRoute(["clear"]),
  a: () => show(page.show === "attention" ? "all" : "attention"),
  r: () => refresh(),
};

function openHelp() {
  byId("shortcuts-on").checked = shortcutsAreOn();
  byId("help").showModal();
}

function wireKeyboard() {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    // The focus may still be in a dialog that has just closed.
    if (event.target.matches("input, select, textarea") && !event.target.closest("dialog")) {
      if (event.key === "Escape" && event.target.id === "filter") event.target.blur();
      return;
    }
    const action = KEYS[event.key];
    if (!action || !shortcutsAreOn()) return;
    event.preventDefault();
    action();
  });
  byId("open-help").addEventListener("click", openHelp);
  byId("shortcuts-on").addEventListener("change", (event) => {
    try { localStorage.setItem(SHORTCUTS_KEY, event.target.checked ? "on" : "off"); } catch { /* Not kept. */ }
  });
}
