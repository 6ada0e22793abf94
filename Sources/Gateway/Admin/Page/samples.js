// Samples of answers that differed, asked for when somebody wants to see them.

function makeSamples(view) {
  const button = h("button", { type: "button", class: "small" }, "Show samples");
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const list = h("ul", { class: "samples", tabindex: "0", role: "region", "aria-label": "Samples, newest first", hidden: true });
  const element = h("div", {}, button, problem, list);
  // How many answers differed when the samples were asked for; null while none are shown.
  let shownAt = null;
  let isAsking = false;

  function hide() {
    shownAt = null;
    setText(button, "Show samples");
    setHidden(list, true);
    syncList(list, [], () => "", makeSample, updateSample);
  }

  async function fetch(ask) {
    if (isAsking) return;
    isAsking = true;
    const differing = view.route.shadow?.mismatch;
    try {
      const answer = await ask("GET", pathOf(view.route.procedure, "/samples"));
      const samples = mergeSamples(answer.samples ?? []);
      if (samples.length === 0) throw new RequestError("there are no samples yet");
      syncList(list, samples, (sample) => sample.key, makeSample, updateSample);
      shownAt = differing;
      setText(button, "Hide samples");
      setHidden(problem, true);
      setHidden(list, false);
    } catch (error) {
      // Those that are shown stay; that the gateway does not answer is said at the top.
      if (shownAt !== null) return;
      setText(problem, `No samples: ${error.message}.`);
      setHidden(problem, false);
    } finally {
      isAsking = false;
    }
  }

  button.addEventListener("click", async () => {
    setHidden(problem, true);
    if (shownAt !== null) return hide();
    button.disabled = true;
    await fetch(requestWithToken);
    button.disabled = false;
    button.focus();
  });
  return {
    element,
    update(route) {
      setHidden(element, shownAt === null && !(route.shadow?.samples > 0));
      if (shownAt !== null && shownAt !== route.shadow?.mismatch) fetch(request);
    },
  };
}

/** Samples that say the same are one, with how often and since when: a fault that every call has fills the ring. */
function mergeSamples(samples) {
  const found = new Map();
  for (const sample of samples) {
    const key = JSON.stringify([sample.request, sample.status, sample.differences]);
    const one = found.get(key);
    if (one) Object.assign(one, { times: one.times + 1, first: sample.at });
    else found.set(key, { ...sample, key, times: 1, first: sample.at });
  }
  return [...found.values()];
}

function makeSample() {
  const [head, status] = [h("span", {}), h("span", {})];
  const asked = h("p", { class: "mono break" });
  const rows = makeTable(["field", "kind", "rest", "rpc"], ["mono break", "", "mono break", "mono break"], false);
  const element = h("li", {}, asked, h("p", { class: "dim small spread" }, head, status), rows.element);
  return { element, head, status, rows, asked };
}

function updateSample(view, sample) {
  const status = sample.status ?? {};
  const times = sample.times > 1 ? ` · ${count(sample.times)} times since ${clock(sample.first)}` : "";
  setText(view.head, `${clock(sample.at)}${times}`);
  setText(view.status, `rest ${sampleValue(status.rest)} · rpc ${sampleValue(status.rpc)}`);
  view.rows.set((sample.differences ?? []).map((one, index) => ({
    key: String(index), texts: [nameOfField(one.path), one.kind, sampleValue(one.rest), sampleValue(one.rpc)],
  })));
  setText(view.asked, sampleValue(sample.request));
  setHidden(view.asked, !sample.request);
}
