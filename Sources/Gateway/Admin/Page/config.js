// Which configuration serves, what is wrong with it, and what came of the last reload. Asked for when /routes says that
// there is something new.

const config = { value: null, mark: null, isAsking: false, warnings: [] };

async function updateConfig(mark, warnings) {
  config.warnings = (Array.isArray(warnings) ? warnings : []).map(String);
  const known = JSON.stringify(mark ?? null);
  if (!mark || config.isAsking || known === config.mark) return renderConfig();
  config.isAsking = true;
  try {
    const value = await request("GET", "/config");
    const before = config.value;
    Object.assign(config, { value, mark: known });
    renderConfig();
    const last = value.last_reload;
    if (before && last && last.time !== before.last_reload?.time) announce(`The configuration was read anew: ${outcomeOf(last)}`);
  } catch {
    // That the gateway does not answer is said at the top; it is asked again with the next figures.
  } finally {
    config.isAsking = false;
  }
}

const outcomeOf = (reload) => (reload.outcome === "ok" ? "it was taken over" : `it was refused, with ${plural(reload.errors ?? 0, "fault")}`);

/** What set a reload off, and who: `POST /reload by 10.0.0.7 (curl/8.5)`. */
function whoReloaded(reload) {
  const causes = { admin: "POST /reload", signal: "SIGHUP", file: "a file changed" };
  const cause = Object.hasOwn(causes, reload.kind ?? "") ? causes[reload.kind] : String(reload.kind ?? "");
  return `${cause}${reload.actor ? ` by ${reload.actor}` : ""}${reload.agent ? ` (${reload.agent})` : ""}`;
}

/** What somebody has to do something about. */
function configNotices() {
  const notices = config.warnings.map((text) => ({ kind: "warn", text: `${text.charAt(0).toUpperCase()}${text.slice(1)}.` }));
  const pending = config.value?.restart_pending ?? [];
  if (pending.length) {
    const keys = pending.join(", ");
    notices.push({ kind: "warn", text: `A restart is pending: ${keys} ${pending.length === 1 ? "changes" : "change"} with the next start only.` });
  }
  return notices;
}

function renderConfig() {
  const notices = configNotices();
  setHidden(byId("config-notices"), notices.length === 0);
  syncList(byId("config-notices"), notices, (one) => one.text,
    (one) => ({ element: h("li", { class: `notice ${one.kind}` }, one.text) }), () => {});
  const value = config.value;
  setHidden(byId("config-section"), value === null);
  if (value === null) return;
  setText(byId("config-file"), value.file ?? NONE);
  setText(byId("config-hash"), value.hash ?? NONE);
  setText(byId("config-since"), clock(value.since));
  const last = value.last_reload;
  setText(byId("config-reload"), last ? `${clock(last.time)}, ${whoReloaded(last)}: ${outcomeOf(last)}.` : "none since the start");
  setAttribute(byId("config-reload"), "class", last && last.outcome !== "ok" ? "bad" : null);
  const warnings = value.warnings ?? [];
  const known = new Set(warnings.map((one) => placeOf(one) + one.message));
  // Each once: what is wrong with what serves was said of the reload that brought it, too.
  renderDiagnostics("config-faults", (last?.diagnostics ?? []).filter((one) => !known.has(placeOf(one) + one.message)));
  renderDiagnostics("config-warnings", warnings);
}

const placeOf = (one) => `${one.file}:${one.line}:${one.column}`;

function renderDiagnostics(name, diagnostics) {
  setHidden(byId(`${name}-part`), diagnostics.length === 0);
  syncList(byId(name), diagnostics, (one) => JSON.stringify(one), (one) => ({
    element: h("li", { class: one.severity === "error" ? "bad" : null },
      h("span", { class: "mono dim" }, placeOf(one)), " ", one.severity === "error" ? "error: " : one.severity === "warning" ? "warning: " : "", one.message),
  }), () => {});
}
