// Samples of answers that differed, asked for when somebody wants to see them.

function makeSamples(view) {
  const button = h("button", { type: "button", class: "small" }, "Show samples");
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const list = h("ul", { class: "samples" });
  const element = h("div", {}, button, problem, list);
  let isShown = false;
  button.addEventListener("click", async () => {
    isShown = !isShown;
    setText(button, isShown ? "Hide samples" : "Show samples");
    setHidden(problem, true);
    if (!isShown) return syncList(list, [], () => "", makeSample, updateSample);
    button.disabled = true;
    try {
      const answer = await requestWithToken("GET", pathOf(view.route.procedure, "/samples"));
      const samples = (answer.samples ?? []).map((sample, index) => ({ ...sample, index }));
      if (samples.length === 0) throw new RequestError("there are no samples yet");
      syncList(list, samples, (sample) => `${sample.at} ${sample.index}`, makeSample, updateSample);
    } catch (error) {
      setText(problem, error.message);
      setHidden(problem, false);
      isShown = false;
      setText(button, "Show samples");
    } finally {
      button.disabled = false;
      button.focus();
    }
  });
  return {
    element,
    update(route) {
      const number = route.shadow?.samples;
      setHidden(element, !isShown && !(number > 0));
    },
  };
}

function makeSample() {
  const head = h("p", { class: "dim" });
  const rows = makeTable(["field", "kind", "rest", "rpc"], ["mono break", "", "mono break", "mono break"]);
  const asked = h("p", { class: "mono dim break small" });
  return { element: h("li", {}, head, rows.element, asked), head, rows, asked };
}

function updateSample(view, sample) {
  const status = sample.status ?? {};
  setText(view.head, `${clock(sample.at)} · rest ${sampleValue(status.rest)} · rpc ${sampleValue(status.rpc)}`);
  view.rows.set((sample.differences ?? []).map((one, index) => ({
    key: String(index), texts: [one.path || "(whole answer)", one.kind, sampleValue(one.rest), sampleValue(one.rpc)],
  })));
  setText(view.asked, sample.request ? `request: ${sampleValue(sample.request)}` : "");
  setHidden(view.asked, !sample.request);
}
