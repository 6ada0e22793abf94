// The dialog that asks before anything is changed: it says what is now, what will be, what follows, and asks for a reason.

const MAXIMUM_REASON = 256;
const CHANGES = {
  move: { title: "Move the route", stages: true },
  back: { title: "Roll back to rest", preset: () => ({ stage: "rest" }) },
  again: { title: "Set it again after the trip", preset: (route) => route.guard?.previous ?? {}, stages: true },
  hold: { title: "Hold the ramp", confirm: "Hold it" },
  resume: { title: "Let the ramp go on", confirm: "Let it go on" },
  clear: { title: "Clear the override", confirm: "Clear it" },
};

/** What can be done to a route as it stands. */
function actionsOf(route) {
  const actions = [{ kind: "move", text: "Move…" }];
  if (route.guard?.state === "tripped" && route.guard.previous) {
    actions.unshift({ kind: "again", text: `Set ${setting(route.guard.previous)} again…` });
  }
  if (route.stage !== "rest" && route.backends?.rest) actions.push({ kind: "back", text: "Roll back…", class: "danger" });
  if (route.ramp) actions.push(route.ramp.held ? { kind: "resume", text: "Let the ramp go on…" } : { kind: "hold", text: "Hold the ramp…" });
  if (route.override) actions.push({ kind: "clear", text: "Clear the override…" });
  return actions;
}

function stagesFor(route) {
  const { rest, rpc } = route.backends ?? {};
  return STAGES.filter((stage) => (stage === "rest" ? rest : stage === "rpc" ? rpc : rest && rpc));
}

const change = { kind: null, procedure: null, stage: null, isBusy: false, opener: null };

function openChange(route, kind) {
  const action = CHANGES[kind];
  const preset = action.preset?.(route) ?? effective(route);
  Object.assign(change, { kind, procedure: route.procedure, stage: preset.stage, isBusy: false, opener: document.activeElement });
  setText(byId("change-title"), action.title);
  setText(byId("change-procedure"), route.procedure);
  setHidden(byId("change-stages"), !action.stages);
  setText(byId("change-segments"), "");
  byId("change-segments").views = undefined;
  for (const stage of action.stages ? stagesFor(route) : []) {
    const input = h("input", { type: "radio", name: "stage", value: stage, id: `stage-${stage}` });
    input.checked = stage === change.stage;
    input.addEventListener("change", () => { change.stage = stage; updateChange(); });
    byId("change-segments").append(input, h("label", { for: `stage-${stage}`, class: stage }, stage));
  }
  const start = preset.percent > 0 ? preset.percent : route.configured_percent > 0 && route.configured_percent < 100 ? route.configured_percent : 1;
  byId("change-percent").value = String(start);
  byId("change-slider").value = String(start);
  byId("change-reason").value = "";
  setHidden(byId("change-problem"), true);
  updateChange();
  byId("change").showModal();
  const first = byId("change-segments").querySelector("input:checked") ?? byId("change-reason");
  first.focus();
}

const wantedPercent = () => Number.parseFloat(byId("change-percent").value);

/** What the dialog would set; null for changes that set no stage. */
function wantedSetting() {
  if (["hold", "resume", "clear"].includes(change.kind)) return null;
  return change.stage === "canary" ? { stage: "canary", percent: wantedPercent() } : { stage: change.stage };
}

function consequence(route, wanted) {
  const { rest, rpc } = { rest: `the REST backend ${route.backends?.rest}`, rpc: `the RPC backend ${route.backends?.rpc}` };
  switch (wanted.stage) {
    case "rest": return `All callers are answered by ${rest}.`;
    case "shadow": return `All callers are answered by ${rest}. Copies go to ${rpc}, and the answers are compared.`;
    case "canary":
      return `About ${percent(wanted.percent)} of the callers are answered by ${rpc}, the others by ${rest}. Each caller stays on one side.`;
    default: return `All callers are answered by ${rpc}.`;
  }
}

function updateChange() {
  const route = page.routes.find((one) => one.procedure === change.procedure);
  const confirm = byId("change-confirm");
  if (!route) {
    confirm.disabled = true;
    return showChangeProblem("This route is gone from the configuration.");
  }
  const wanted = wantedSetting();
  const file = { stage: route.configured_stage, percent: route.configured_percent };
  setHidden(byId("change-share"), wanted?.stage !== "canary");
  const now = setting(effective(route));
  const lines = [];
  let isPossible = true;
  if (wanted) {
    const isShare = wanted.stage !== "canary" || (wanted.percent >= 0 && wanted.percent <= 100);
    const isSame = setting(wanted) === now && route.guard?.state !== "tripped";
    isPossible = isShare && !isSame;
    lines.push(["now", now], ["then", isShare ? setting(wanted) : "a share is a number from 0 to 100"]);
    if (isShare) lines.push(["so", isSame ? "Nothing changes." : consequence(route, wanted)]);
    if (isPossible && setting(wanted) !== setting(file)) {
      lines.push(["the file says", `${setting(file)}; this lies over it until it is cleared, or the file says something new`]);
    }
    if (isPossible && route.guard?.state === "tripped") lines.push(["guard", "This clears its trip: it judges anew."]);
    setText(confirm, change.kind === "back" ? "Roll back" : `Set ${isShare ? setting(wanted) : "it"}`);
  } else {
    if (change.kind === "clear") {
      lines.push(["now", now], ["then", setting(file)], ["so", consequence(route, file)], ["override", overrideText(route)]);
      isPossible = Boolean(route.override);
    } else {
      lines.push(["now", now], ["so", change.kind === "hold"
        ? "The share stays where it is. The guard goes on watching." : "The share grows again while the guard is content."]);
      isPossible = Boolean(route.ramp);
    }
    setText(confirm, CHANGES[change.kind].confirm);
  }
  setAttribute(confirm, "class", change.kind === "back" ? "primary danger" : "primary");
  confirm.disabled = !isPossible || change.isBusy;
  updatePreview(lines);
}

const previewFacts = makeFacts();
function updatePreview(lines) {
  if (!previewFacts.element.isConnected) byId("change-preview").append(previewFacts.element);
  previewFacts.set(lines);
}

function showChangeProblem(text) {
  setText(byId("change-problem"), text);
  setHidden(byId("change-problem"), !text);
}

async function confirmChange() {
  const reason = byId("change-reason").value.trim();
  if (bytesOf(reason) > MAXIMUM_REASON) return showChangeProblem(`The reason is longer than ${MAXIMUM_REASON} bytes.`);
  const wanted = wantedSetting();
  const because = reason ? { reason } : {};
  const name = methodOf(change.procedure);
  change.isBusy = true;
  showChangeProblem("");
  updateChange();
  try {
    if (wanted) await requestWithToken("PUT", pathOf(change.procedure, "/stage"), { ...wanted, ...because });
    else if (change.kind === "clear") await requestWithToken("DELETE", pathOf(change.procedure, "/stage"), because);
    else await requestWithToken("PUT", pathOf(change.procedure, "/hold"), { held: change.kind === "hold", ...because });
    byId("change").close();
    if (!wanted) announce(`${name}: ${change.kind === "clear" ? "the override is cleared" : change.kind === "hold" ? "the ramp is held" : "the ramp goes on"}`);
    await refresh();
  } catch (error) {
    showChangeProblem(`Nothing was changed: ${error.message}.`);
  } finally {
    change.isBusy = false;
    updateChange();
  }
}

function wireChange() {
  const [number, slider] = [byId("change-percent"), byId("change-slider")];
  number.addEventListener("input", () => { slider.value = number.value || "0"; updateChange(); });
  slider.addEventListener("input", () => { number.value = slider.value; updateChange(); });
  byId("change-cancel").addEventListener("click", () => byId("change").close());
  byId("change-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (!byId("change-confirm").disabled) confirmChange();
  });
  // Where the focus was, if that is still there.
  byId("change").addEventListener("close", () => change.opener?.isConnected && change.opener.focus());
}
