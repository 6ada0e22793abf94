// Building and updating the document. Everything that came over the network is set as text, never as markup, and only
// what has changed is touched, so that focus, selection and open parts survive an update.

const byId = (id) => document.getElementById(id);

/** An element: `h("td", { class: "number", title: "…" }, "text", otherElement)`. */
function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) setAttribute(element, key, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function setAttribute(element, name, value) {
  if (value === null || value === undefined || value === false) {
    if (element.hasAttribute(name)) element.removeAttribute(name);
    return;
  }
  const text = value === true ? "" : String(value);
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

function setText(element, text) {
  const wanted = String(text);
  if (element.textContent !== wanted) element.textContent = wanted;
}

function setHidden(element, isHidden) {
  if (element.hidden !== isHidden) element.hidden = isHidden;
}

/**
 * Makes the children of `parent` those of `items`: elements stay with their key, are made when they are new, moved only
 * when the order differs, and removed when their item is gone.
 */
function syncList(parent, items, keyOf, make, update) {
  const known = parent.views ?? (parent.views = new Map());
  const wanted = new Set();
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    if (wanted.has(key)) continue;
    wanted.add(key);
    let view = known.get(key);
    if (!view) known.set(key, (view = make(item)));
    update(view, item);
    if (view.element === place) place = place.nextElementSibling;
    else parent.insertBefore(view.element, place);
  }
  for (const [key, view] of known) {
    if (wanted.has(key)) continue;
    view.element.remove();
    known.delete(key);
  }
}

/** A row of cells whose texts follow; for tables that have nothing else in them. */
function textRow(classes = []) {
  const cells = classes.map((name) => h("td", { class: name || null, role: "cell" }));
  return {
    element: h("tr", { role: "row" }, ...cells),
    set(texts) { texts.forEach((text, index) => setText(cells[index], text)); },
    cells,
  };
}

/** Says something to those who cannot see that it changed. */
function announce(text) {
  const line = h("p", {}, text);
  byId("announcer").append(line);
  setTimeout(() => line.remove(), 10_000);
}
